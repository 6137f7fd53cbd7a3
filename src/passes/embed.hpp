// A schedule of some ranks as a part of one of more: its ranks get their names there, its chunks become what
// they stand for.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ir/builder.hpp"
#include "ir/schedule.hpp"

namespace hocket::passes {

struct Embedding {
  std::span<const ir::Rank> ranks;  ///< the part's rank i is rank ranks[i]
  /// Appends what chunk `index` (planes counted through, as in a Region) of a buffer of the part is in the
  /// whole: regions of this rank. The same on all ranks but for buffers and planes, so that what one sends
  /// the other receives.
  std::function<void(ir::Buffer buffer, std::uint32_t index, std::vector<ir::Region>& regions)> append;
};

/// Appends the part's rounds to a schedule. Throws Error if the part does more than send, receive, copy,
/// reduce and aggregate what is its rank's own, or aggregates what is in several places of the whole.
void embed(const ir::Schedule& part, const Embedding& embedding, ir::Builder& whole);

}  // namespace hocket::passes
