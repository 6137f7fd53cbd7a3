// Compiled plans for small messages: every rank publishes what others need in its flag line (or the payload
// beside it), and takes what it needs from the others'. Their specification are the rows `flat` (alltoall:
// `direct`) of the catalog; the differential tests hold the two together.
#pragma once

#include <string_view>

#include "base/status.hpp"
#include "executors/operation.hpp"
#include "transports/shm/channel.hpp"

namespace hocket::engine::compiled {

using executors::Operation;
using ir::Rank;

struct FlatCall {
  transports::shm::Channel& channel;
  const Operation& op;
  std::uint32_t signature = 0;
  std::size_t published =
      0;  ///< bytes that a rank publishes at most; the same on all ranks, and decides where payloads are
  const void** sources = nullptr;  ///< room for one pointer per rank
};

/// Runs one operation as the channel's next instance.
using FlatPlan = Status (*)(const FlatCall& call) noexcept;

/// Null if this row of the catalog has no compiled form.
FlatPlan find_flat(ir::Collective collective, std::string_view row) noexcept;

/// The most that a rank publishes in a call of this size; the plan can be used up to shm::payload_bytes. All
/// ranks know it.
std::size_t published_bytes(ir::Collective collective, Rank ranks, std::size_t agreed_bytes,
                            std::size_t largest_block) noexcept;

}  // namespace hocket::engine::compiled
