// Compiled plans for small messages: every rank publishes what others need in its flag line (or the payload
// beside it), and takes what it needs from the others'. Their specification are the rows `flat` (alltoall:
// `direct`) of the catalog; the differential tests hold the two together.
#pragma once

#include <string_view>

#include "base/status.hpp"
#include "executors/operation.hpp"
#include "transports/shm/channel.hpp"
#include "transports/shm/instance.hpp"

namespace hocket::engine::compiled {

using executors::Operation;
using ir::Rank;

/// `Via`: the channel of blocking calls, or an instance of a lane, which never waits.
template <class Via>
struct FlatCallOn {
  Via& channel;
  const Operation& op;
  std::uint32_t signature = 0;
  std::size_t published =
      0;  ///< bytes that a rank publishes at most; the same on all ranks, and decides where payloads are
  const void** sources = nullptr;  ///< room for one pointer per rank
};
using FlatCall = FlatCallOn<transports::shm::Channel>;
using StartedFlatCall = FlatCallOn<transports::shm::Instance>;

/// Runs one operation as the channel's next instance.
using FlatRun = Status (*)(const FlatCall& call) noexcept;

struct FlatPlan {
  FlatRun run;
  // The same in two halves, for an instance whose memory is free: what peers need from this rank; what this
  // rank needs from them, which is pending until they are there, and then asked for again.
  void (*publish)(const StartedFlatCall& call) noexcept;
  Status (*take)(const StartedFlatCall& call) noexcept;
};

/// Null if this row of the catalog has no compiled form.
const FlatPlan* find_flat(ir::Collective collective, std::string_view row) noexcept;

/// The most that a rank publishes in a call of this size; the plan can be used up to shm::payload_bytes. All
/// ranks know it.
std::size_t published_bytes(ir::Collective collective, Rank ranks, std::size_t agreed_bytes,
                            std::size_t largest_block) noexcept;

}  // namespace hocket::engine::compiled
