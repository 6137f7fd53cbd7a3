// A long call is carried out in slices, one after the other, each of some bytes of every block, or of the
// vector: while one is on its way, the next one is read from the rank's memory, and the one before it
// written there. Pieces of a slice are short enough to be sent without being asked for (ucx_fabric.cpp),
// unless the call is very long, or several travel in one message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "executors/binding.hpp"

namespace hocket::worker {

class Slices {
 public:
  /// As many on all ranks, which know the same of what is agreed; one where blocks may differ.
  Slices(const executors::Operation& op, const executors::Plan& plan)
      : extent_(executors::Binding(plan, op).extent()) {
    if (op.input_blocks.sizes || op.output_blocks.sizes) return;
    const std::size_t chunks = std::max<std::size_t>(plan.schedule.chunks, 1);
    if (!ir::is_blocks(op.collective)) pieces_ = chunks;
    const std::size_t kept = op.collective == ir::Collective::gather ? chunks : pieces_;
    const std::size_t most = std::max<std::size_t>(most_pieces / kept, 1);
    const std::size_t count =
        std::clamp<std::size_t>(quotient(op.agreed_bytes, pieces_ * piece_bytes), 1, most);
    const std::size_t unit = line * (ir::is_reduction(op.collective) ? op.reduction.element_bytes : 1);
    count_ = static_cast<std::uint32_t>(count);
    length_ = quotient(op.agreed_bytes, count * unit) * unit;
  }

  std::uint32_t count() const noexcept { return count_; }
  /// Bytes of a block, or of a chunk, in one slice, as slice_order.hpp counts them: 0 if too few to wait.
  std::size_t weight() const noexcept {
    const std::size_t bytes = (count_ == 1 ? extent_ : length_) / pieces_;
    return bytes < short_bytes ? 0 : std::min(bytes, piece_bytes);
  }
  executors::Segment operator[](std::uint32_t index) const noexcept {
    if (count_ == 1) return {0, extent_};
    const std::size_t first = std::min(index * length_, extent_);
    return {first, std::min(length_, extent_ - first)};
  }

 private:
  /// Rounded up.
  static constexpr std::size_t quotient(std::size_t a, std::size_t b) { return a / b + (a % b != 0 ? 1 : 0); }

  static constexpr std::size_t line = 64;
  static constexpr std::size_t piece_bytes = std::size_t{256} << 10U;
  /// Shorter ones pass by long calls: the link has them in a fraction of a millisecond.
  static constexpr std::size_t short_bytes = std::size_t{16} << 10U;
  /// Who only sends runs ahead of who is late, whose network keeps what has come unasked: so much of a call,
  /// of all senders of a gather together. Pieces of longer calls are longer, and asked for.
  static constexpr std::size_t most_pieces = 64;

  std::size_t extent_;
  std::size_t pieces_ = 1;
  std::uint32_t count_ = 1;
  std::size_t length_ = 0;
};

}  // namespace hocket::worker
