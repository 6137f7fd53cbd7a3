#include "executors/binding.hpp"

#include <algorithm>

namespace hocket::executors {

using ir::Buffer;
using ir::Collective;
using transports::Piece;

namespace {

constexpr std::size_t line = 64;

std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

bool is_regular(const Operation& op) {
  return !op.input_blocks.sizes && !op.output_blocks.sizes;
}

/// Of a block without a table of sizes. In gatherv and scatterv away from the root no size is agreed, and
/// only the own block is used.
std::size_t plain_block(const Operation& op) {
  return op.agreed_bytes != 0 ? op.agreed_bytes : op.own_bytes;
}

}  // namespace

Binding::Binding(const Plan& plan, const Operation& operation) noexcept
    : plan_(plan),
      op_(operation),
      chunks_(std::max<std::uint32_t>(plan.schedule.chunks, 1)),
      vector_(!ir::is_blocks(operation.collective)),
      element_(ir::is_reduction(operation.collective) ? operation.reduction.element_bytes : 1),
      extent_(operation.own_bytes) {
  if (vector_) return;
  extent_ = is_regular(op_) ? plain_block(op_) : 0;
  for (std::uint32_t c = 0; c < chunks_ && !is_regular(op_); ++c)
    extent_ = std::max({extent_, op_.input_blocks.sizes ? op_.input_blocks.sizes[c] : 0,
                        op_.output_blocks.sizes ? op_.output_blocks.sizes[c] : 0});
  for (std::uint32_t i = 0; has_scratch_sizes() && i < scratch_chunks(); ++i)
    extent_ = std::max(extent_, op_.scratch_blocks.sizes[i]);
}

std::uint32_t Binding::scratch_chunks() const noexcept {
  return plan_.schedule.scratch_planes * chunks_;
}

std::size_t Binding::longest_segment(std::size_t area_bytes) const noexcept {
  const std::size_t unit = element_ * (line / std::min(line, element_));  // whole elements, near whole lines
  const std::size_t chunk = area_bytes / std::max<std::uint32_t>(plan_.staging_chunks, 1) / line * line;
  const std::size_t usable = chunk / unit * unit;
  return vector_ ? usable * chunks_ : usable;
}

std::size_t Binding::scratch_bytes(std::size_t length) const noexcept {
  if (has_scratch_sizes()) {
    const std::size_t last = scratch_chunks() - 1;
    return static_cast<std::size_t>(op_.scratch_blocks.offsets[last]) + op_.scratch_blocks.sizes[last];
  }
  const std::size_t plane = vector_ ? round_up(length, line) : round_up(length, line) * chunks_;
  return plane * plan_.schedule.scratch_planes;
}

void Binding::select(Segment segment, std::byte* scratch) noexcept {
  segment_ = segment;
  scratch_ = scratch;
  const std::size_t elements = segment.length / element_;
  const std::size_t longest_chunk = vector_ ? (elements + chunks_ - 1) / chunks_ * element_ : segment.length;
  stride_ = round_up(longest_chunk, line);
}

std::size_t Binding::vector_start(std::uint32_t chunk) const noexcept {
  const std::size_t elements = segment_.length / element_;
  // floor(elements * chunk / chunks) without overflow
  const std::size_t whole = elements / chunks_;
  const std::size_t rest = elements % chunks_;
  return (whole * chunk + rest * chunk / chunks_) * element_;
}

std::size_t Binding::block_size(Buffer buffer, std::uint32_t chunk) const noexcept {
  if (is_regular(op_)) return plain_block(op_);
  const bool from_input = op_.collective == Collective::scatter ||
                          op_.collective == Collective::reduce_scatter ||
                          (op_.collective == Collective::alltoall && buffer == Buffer::input);
  const Blocks& blocks = from_input ? op_.input_blocks : op_.output_blocks;
  return blocks.sizes ? blocks.sizes[chunk] : op_.own_bytes;
}

std::size_t Binding::bytes(Buffer buffer, std::uint32_t index) const noexcept {
  const std::uint32_t chunk = index % chunks_;
  if (vector_) return vector_start(chunk + 1) - vector_start(chunk);
  const bool in_table = buffer == Buffer::scratch && has_scratch_sizes();
  const std::size_t size = in_table ? op_.scratch_blocks.sizes[index] : block_size(buffer, chunk);
  return size <= segment_.first ? 0 : std::min(size - segment_.first, segment_.length);
}

std::ptrdiff_t Binding::block_offset(Buffer buffer, std::uint32_t chunk) const noexcept {
  const bool whole_input = op_.collective == Collective::scatter || op_.collective == Collective::alltoall ||
                           op_.collective == Collective::reduce_scatter;
  const bool whole_output = op_.collective == Collective::gather || op_.collective == Collective::allgather ||
                            op_.collective == Collective::alltoall;
  // In place, the own block of gather and allgather stands in the output; that of a scatter's root stays in
  // the input.
  if (buffer == Buffer::input) {
    if (whole_input) return op_.input_blocks.offset_of(chunk);
    return op_.in_place && whole_output ? op_.output_blocks.offset_of(chunk) : 0;
  }
  if (whole_output) return op_.output_blocks.offset_of(chunk);
  return op_.in_place && op_.collective == Collective::scatter ? op_.input_blocks.offset_of(chunk) : 0;
}

std::byte* Binding::base(Buffer buffer) const noexcept {
  const bool in_input = op_.in_place ? op_.collective == Collective::scatter : buffer == Buffer::input;
  return static_cast<std::byte*>(in_input ? const_cast<void*>(op_.input) : op_.output);
}

Piece Binding::own(Buffer buffer, std::uint32_t index) const noexcept {
  const std::uint32_t chunk = index % chunks_;
  const std::size_t plane = index / chunks_;
  const std::size_t size = bytes(buffer, index);
  if (buffer == Buffer::scratch && has_scratch_sizes())
    return {scratch_ + op_.scratch_blocks.offset_of(index) + segment_.first, size};
  if (buffer == Buffer::scratch) {
    const std::size_t offset = vector_ ? plane * round_up(segment_.length, line) + vector_start(chunk)
                                       : (plane * chunks_ + chunk) * stride_;
    return {scratch_ + offset, size};
  }
  const std::size_t offset =
      vector_ ? vector_start(chunk) : static_cast<std::size_t>(block_offset(buffer, chunk));
  return {base(buffer) + offset + segment_.first, size};
}

std::size_t Binding::exposed_offset(std::uint32_t chunk) const noexcept {
  return (vector_ ? vector_start(chunk) : chunk * plain_block(op_)) + segment_.first;
}

/// May lie outside of any buffer: an address to compute with, not a pointer to follow.
const void* Binding::exposed_base(const ir::Region& region) const noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(own(region.buffer, region.first).data);
  return reinterpret_cast<const void*>(start -
                                       exposed_offset(region.first));  // NOLINT(performance-no-int-to-ptr)
}

std::size_t Binding::staging_offset(Rank owner, std::uint32_t index) const noexcept {
  const ir::Window& window = plan_.staging[static_cast<std::size_t>(owner)];
  const std::size_t chunk = index % chunks_ - window.first;
  const std::size_t plane = index / chunks_;
  return (plane * window.count + chunk) * stride_;
}

}  // namespace hocket::executors
