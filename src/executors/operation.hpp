// The data of one collective operation: bytes, blocks and the reduction. What an executor needs beside a
// plan.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/collective.hpp"

namespace hocket::executors {

using ir::Rank;

/// Elementwise reduction of `count` elements: dst = left fold of src[0..sources). dst may be one of src or
/// disjoint from all of them.
struct Reduction {
  using Apply = void (*)(const Reduction& self, void* dst, const void* const* src, int sources,
                         std::size_t count) noexcept;
  using Kernel = void (*)(void* dst, const void* const* src, int sources, std::size_t count) noexcept;

  Apply apply = nullptr;
  std::size_t element_bytes = 1;
  bool commutative = true;
  std::uint8_t operation =
      0;  ///< identity of a predefined operation, 0: the user's own. Part of the call's signature.
  std::uint8_t element_type =
      0;  ///< identity of a predefined type, likewise; no part of it: ranks may name one type in several ways
  const void* context = nullptr;
  Kernel kernel = nullptr;  ///< of a predefined operation on a predefined type; null: use apply

  void operator()(void* dst, const void* const* src, int sources, std::size_t count) const noexcept {
    if (kernel)
      kernel(dst, src, sources, count);
    else
      apply(*this, dst, src, sources, count);
  }
};

/// The blocks of a user buffer, one per rank. Regular: `sizes` is null, block i has `size` bytes at i * size.
struct Blocks {
  std::size_t size = 0;
  const std::size_t* sizes = nullptr;       ///< bytes
  const std::ptrdiff_t* offsets = nullptr;  ///< bytes from the buffer's start

  std::size_t size_of(std::size_t block) const noexcept { return sizes ? sizes[block] : size; }
  std::ptrdiff_t offset_of(std::size_t block) const noexcept {
    return offsets ? offsets[block] : static_cast<std::ptrdiff_t>(block * size);
  }
};

struct Operation {
  ir::Collective collective = ir::Collective::barrier;
  Rank root = 0;
  /// Where the call is in-place: the same as output (for blocks the place of the own block is understood).
  const void* input = nullptr;
  void* output = nullptr;
  bool in_place = false;
  /// Bytes that MPI obliges all ranks to agree on: the vector, or one block, or (allgatherv, reduce_scatter)
  /// all blocks together; 0 for gatherv, scatterv, alltoallv, where no size is known to all.
  std::size_t agreed_bytes = 0;
  Blocks input_blocks;   ///< scatter(v), alltoall(v), reduce_scatter: of input
  Blocks output_blocks;  ///< gather(v), allgather(v), alltoall(v): of output
  /// alltoallv by leaders: of each chunk of scratch, plane after plane. Without sizes: all are alike.
  Blocks scratch_blocks;
  /// A message of no bytes is one, too, so that who expects some notices.
  bool tells_of_empty_blocks = false;
  std::size_t own_bytes = 0;  ///< gather(v), allgather(v): size of the own block; scatter(v), reduce_scatter:
                              ///< of the received one; vectors: their size
  Reduction reduction;
};

}  // namespace hocket::executors
