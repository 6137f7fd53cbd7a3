// A call as the kind that is decided about: what of it all ranks know alike.
#pragma once

#include "engine/call.hpp"
#include "engine/decision.hpp"
#include "ir/request.hpp"

namespace hocket::engine {

/// `bytes`: agreed ones, or a guess that is the same on all ranks where no size is known.
CallKind kind_of(const Call& call, std::size_t bytes, Rank ranks) noexcept;

/// 32 bits that are never 0, equal where MPI obliges the calls to be equal.
inline std::uint32_t signature_of(const CallKind& kind) noexcept {
  return static_cast<std::uint32_t>(kind.hash()) | 1U;
}

/// The next call may be the same one with other buffers.
bool is_repeatable(const Call& call) noexcept;

/// Without parameters, which a recipe has: what a row builds a rank's schedule from.
ir::Request request_of(const CallKind& kind, ir::Collective collective, Rank ranks, Rank rank) noexcept;

}  // namespace hocket::engine
