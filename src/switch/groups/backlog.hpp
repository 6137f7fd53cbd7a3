// What a child has sent of an operation and others have not yet: in chunks that end where elements end, each
// freed when it has been combined. Nothing is moved.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

namespace hocket::aggregation {

class Backlog {
 public:
  bool is_empty() const noexcept { return chunks_.empty(); }
  /// Whole elements. `still`: bytes that may come of the operation, these among them.
  void add(std::span<const std::byte> data, std::size_t unit, std::size_t still);
  /// The oldest bytes that lie in one piece; empty: there are none.
  std::span<const std::byte> front() const noexcept;
  /// No more than front() has.
  void drop(std::size_t bytes) noexcept;

 private:
  std::deque<std::vector<std::byte>> chunks_;
  std::size_t dropped_ = 0;  ///< of the first
};

}  // namespace hocket::aggregation
