// Whose slice begins next: calls of one communicator send one after the other, the oldest first. If they sent
// side by side, all would end late and at about the same time, with nothing on the link while their ranks
// compute what comes next; and that a call has ended, which is one more message, would wait behind everything
// that later ones have handed to the network.
// Members start calls in the same order, and a communicator's oldest slice always may begin: so nobody waits
// in a circle, and each decides alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace hocket::worker {

/// Of a communicator's calls, each known by the number of its first slice, and with so many bytes in each
/// slice: 0 where they are too few to wait for others.
class SliceOrder {
 public:
  /// Throws std::bad_alloc.
  void line_up(std::uint32_t call, std::size_t bytes) {
    if (bytes != 0) waiting_.push_back(call);
  }
  bool may_begin(std::uint32_t call, std::size_t bytes) const noexcept {
    if (bytes == 0) return true;
    const bool is_next = !waiting_.empty() && waiting_.front() == call;
    return is_next && (under_way_ == 0 || under_way_ + bytes <= most_bytes);
  }
  /// After may_begin().
  void begin(std::size_t bytes, bool is_last_slice) noexcept {
    under_way_ += bytes;
    if (bytes != 0 && is_last_slice) waiting_.pop_front();
  }
  void end(std::size_t bytes) noexcept { under_way_ -= bytes; }
  /// Begins no more, and has so many slices under way.
  void give_up(std::uint32_t call, std::size_t bytes, std::size_t slices) noexcept {
    std::erase(waiting_, call);
    under_way_ -= slices * bytes;
  }

 private:
  /// Of each block. So much that the link has something when one slice has ended and the next is read.
  static constexpr std::size_t most_bytes = std::size_t{512} << 10U;

  std::deque<std::uint32_t> waiting_;  ///< oldest first
  std::size_t under_way_ = 0;
};

}  // namespace hocket::worker
