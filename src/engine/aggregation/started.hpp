// One aggregation of an operation, from when the schedule starts it until all members of its group have
// theirs.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "executors/aggregator.hpp"
#include "offload/request.hpp"

namespace hocket::engine::aggregation {

struct Started {
  executors::Aggregation what;  ///< its source: kept, where the target is the same memory
  ir::Rank root = -1;           ///< among the members
  offload::Request request;
  bool is_pending = false;         ///< in the network
  std::vector<std::byte> kept;     ///< its source
  std::vector<std::byte> unheard;  ///< a result that this member does not want, but may have to pass on

  /// `is_passed_on`: its result, from member to member. Throws std::bad_alloc.
  void begin(const executors::Aggregation& aggregation, ir::Rank root_member, bool is_passed_on) {
    what = aggregation;
    root = root_member;
    is_pending = false;
    if (what.source && what.source == what.target && what.kind != ir::Collective::bcast) keep_source();
    if (is_passed_on && !what.target) unheard.resize(what.bytes);
  }

  /// Where the result is (`is_here`), or has to come to. A root's broadcast data are only read: it hears them
  /// elsewhere.
  std::span<std::byte> result(bool is_here) noexcept {
    if (what.target) return {what.target, what.bytes};
    if (what.kind == ir::Collective::bcast && is_here)
      return {const_cast<std::byte*>(what.source), what.bytes};
    return {unheard.data(), what.bytes};
  }

 private:
  void keep_source() {
    kept.resize(what.bytes);
    std::memcpy(kept.data(), what.source, what.bytes);
    what.source = kept.data();
  }
};

}  // namespace hocket::engine::aggregation
