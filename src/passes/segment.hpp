// Pipelining: cuts the vector into segments and lets them follow each other through the rounds of a schedule,
// so many rounds apart. Pipelined k-nomial broadcast is the row `knomial` and this pass.
#pragma once

#include <cstdint>
#include <span>

#include "ir/schedule.hpp"

namespace hocket::passes {

/// Segment s does in round t + s * apart what the whole did in round t. One round apart is right where all
/// rounds load the same links; where a schedule has two rounds inside leaf switches and then two between
/// them, two rounds apart keep both kinds of links at work.
struct Segmentation {
  std::uint32_t segments = 1;
  std::uint32_t apart = 1;  ///< in rounds, at least 1
  bool operator==(const Segmentation&) const = default;
};

/// Whether segment() keeps the meaning of these schedules (all ranks of one operation): a vector collective
/// by send and recv in which the messages are the edges of a tree, and without aggregations, in which several
/// ranks meet. In a tree, ranks may run their rounds at any distance from each other, so no rank has to know
/// the others' rounds; on a cycle the distances would have to add up to nothing.
bool can_segment(std::span<const ir::Schedule> schedules);

/// One rank's schedule with the vector cut into segments, each of them into the chunks of the whole: chunk c
/// of N becomes chunk s * N + c of segment s. R rounds become R + (segments - 1) * apart, fewer where nothing
/// lies between. Throws hocket::Error if the schedule itself shows that it cannot be segmented.
ir::Schedule segment(const ir::Schedule& schedule, Segmentation cut);

/// Whether segment_aligned() keeps their meaning: a vector collective by send and recv, of any shape, and by
/// aggregations.
bool can_segment_aligned(std::span<const ir::Schedule> schedules);

/// The same where messages are on cycles: a hierarchy's reductions up and broadcasts down, a ring. All ranks
/// run by one clock (align.hpp), members of a group start its aggregations in the order of times: `times`
/// are those of the rounds, and the rounds that segments are apart are the clock's. What two ranks exchange
/// at the same time, of several segments, is one message; each segment has aggregations of its own.
ir::Schedule segment_aligned(const ir::Schedule& schedule, std::span<const std::uint32_t> times,
                             Segmentation cut);

}  // namespace hocket::passes
