// What of a rank's buffers a call reads and writes, and the same call on views of them.
#pragma once

#include "engine/handover/commands.hpp"
#include "worker/view.hpp"

namespace hocket::worker {

struct CallViews {
  View input, output;
  bool is_one = false;        ///< in place: the output's view serves for both
  bool reads_output = false;  ///< before a slice of it begins
  bool writes_output = true;  ///< after a slice of it has ended

  /// There are some, and nothing is copied.
  bool are_mapped() const noexcept {
    return (input.is_mapped() || output.is_mapped()) && input.mirror_bytes() == 0 &&
           output.mirror_bytes() == 0;
  }
};

/// `define` says what the rank has asked for, in a communicator of so many. Throws Error where its tables do
/// not fit.
CallViews views_of(const engine::handover::Define& define, ir::Rank rank, std::size_t ranks,
                   const RankProcess& process);

/// The call on its views, with mirrors for those that are not mapped; null where they are empty.
executors::Operation viewed(const engine::handover::Define& define, const CallViews& views, std::byte* input,
                            std::byte* output);

}  // namespace hocket::worker
