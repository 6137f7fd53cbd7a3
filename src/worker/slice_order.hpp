// Whose slice begins next: calls of one communicator send one after the other, the oldest first. If they sent
// side by side, all would end late and at about the same time, with nothing on the link while their ranks
// compute what comes next; and that a call has ended, which is one more message, would wait behind everything
// that later ones have handed to the network.
// Members start calls in the same order, and of a communicator's slices the oldest that has not ended is
// under way or may begin: so nobody waits in a circle, and each decides alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace hocket::worker {

/// Of a communicator's calls, each known by the number of its first slice. `weight`, of each of its slices:
/// bytes of a block, at most 256 KiB; 0 where they are too few to wait for others.
class SliceOrder {
 public:
  /// Throws std::bad_alloc.
  void line_up(std::uint32_t call, std::size_t weight) {
    if (weight != 0) waiting_.push_back(call);
  }
  bool may_begin(std::uint32_t call, std::size_t weight) const noexcept {
    return weight == 0 || (is_next(call) && under_way_ + weight <= most_under_way);
  }
  /// After may_begin().
  void begin(std::size_t weight, bool is_last_slice) noexcept {
    under_way_ += weight;
    if (weight != 0 && is_last_slice) waiting_.pop_front();
  }
  void end(std::size_t weight) noexcept { under_way_ -= weight; }
  /// Begins no more, and has so many slices under way.
  void give_up(std::uint32_t call, std::size_t weight, std::size_t slices) noexcept {
    under_way_ -= slices * weight;
    if (is_next(call))
      waiting_.pop_front();
    else if (weight != 0)
      std::erase(waiting_, call);
  }

 private:
  bool is_next(std::uint32_t call) const noexcept { return !waiting_.empty() && waiting_.front() == call; }

  /// So that the link has something when one slice has ended and the next is read: two of the heaviest.
  static constexpr std::size_t most_under_way = std::size_t{512} << 10U;

  std::deque<std::uint32_t> waiting_;  ///< oldest first
  std::size_t under_way_ = 0;
};

}  // namespace hocket::worker
