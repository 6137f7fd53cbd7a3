// Where the chunks of a plan lie in memory: the plan's chunk space laid over one operation's buffers, or over
// one segment of them.
#pragma once

#include <cstddef>

#include "executors/operation.hpp"
#include "executors/plan.hpp"
#include "transports/transport.hpp"

namespace hocket::executors {

/// The part of the data that one instance moves: elements [first, first + length) of the vector, or of every
/// block.
struct Segment {
  std::size_t first = 0;   ///< bytes
  std::size_t length = 0;  ///< bytes at most (blocks may end earlier)
};

class Binding {
 public:
  Binding(const Plan& plan, const Operation& operation) noexcept;

  /// Bytes of the vector, or of the largest block that this rank knows of.
  std::size_t extent() const noexcept { return extent_; }
  std::size_t element_bytes() const noexcept { return element_; }
  /// The longest segment whose chunks fit a staging area.
  std::size_t longest_segment(std::size_t area_bytes) const noexcept;
  /// Scratch that a segment of this length needs.
  std::size_t scratch_bytes(std::size_t length) const noexcept;

  void select(Segment segment, std::byte* scratch) noexcept;

  /// Chunk `index` of one of this rank's private buffers.
  transports::Piece own(ir::Buffer buffer, std::uint32_t index) const noexcept;
  /// Byte offset of a chunk in its owner's staging area; the same for all who compute it.
  std::size_t staging_offset(Rank owner, std::uint32_t index) const noexcept;
  /// Where a chunk of an exposed buffer lies, from the base that exposed_base() gives for it. All ranks
  /// compute the same, wherever the owner's chunks really are (in place or not): blocks are counted as if
  /// they all were there.
  std::size_t exposed_offset(std::uint32_t chunk) const noexcept;
  const void* exposed_base(const ir::Region& own) const noexcept;
  /// Bytes of a chunk as this rank knows it.
  std::size_t bytes(ir::Buffer buffer, std::uint32_t index) const noexcept;

 private:
  bool has_scratch_sizes() const noexcept { return op_.scratch_blocks.sizes != nullptr; }
  std::uint32_t scratch_chunks() const noexcept;
  std::byte* base(ir::Buffer buffer) const noexcept;  ///< input or output
  std::size_t block_size(ir::Buffer buffer, std::uint32_t chunk) const noexcept;
  std::ptrdiff_t block_offset(ir::Buffer buffer, std::uint32_t chunk) const noexcept;
  std::size_t vector_start(std::uint32_t chunk) const noexcept;

  const Plan& plan_;
  const Operation& op_;
  std::uint32_t chunks_;
  bool vector_;
  std::size_t element_;
  std::size_t extent_;
  Segment segment_;
  std::size_t stride_ = 0;  ///< of staging and block scratch chunks
  std::byte* scratch_ = nullptr;
};

}  // namespace hocket::executors
