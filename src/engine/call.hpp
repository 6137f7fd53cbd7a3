// One collective call as the engine sees it: bytes and blocks. The MPI edge has packed derived types and resolved handles.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/collective.hpp"

namespace hocket::engine {

using ir::Rank;

/// What the program called; the name in reports, options and error messages.
enum class Function : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  alltoallw,       // from here on: never run by Hocket, known by name so that reports and marks can say it
  neighbor,
  other,
};

/// Elementwise reduction of `count` elements: dst = left fold of src[0..sources). dst may be one of src or disjoint from all of them.
struct Reduction {
  using Apply = void (*)(const Reduction& self, void* dst, const void* const* src, int sources,
                         std::size_t count) noexcept;
  Apply apply = nullptr;
  std::size_t element_bytes = 1;
  bool commutative = true;
  std::uint8_t operation = 0;  ///< identity of a predefined operation, 0: the user's own. Part of the call's signature.
  const void* context = nullptr;
  const void* kernel = nullptr;  ///< kernels::ReduceFn of a predefined operation
};

/// The blocks of a user buffer, one per rank. Regular: `sizes` is null, block i has `size` bytes at i * size.
struct Blocks {
  std::size_t size = 0;
  const std::size_t* sizes = nullptr;        ///< bytes
  const std::ptrdiff_t* offsets = nullptr;   ///< bytes from the buffer's start
};

struct Call {
  Function function = Function::barrier;
  ir::Collective collective = ir::Collective::barrier;
  Rank root = 0;
  const void* input = nullptr;  ///< where the call is in-place: the same as output (for blocks: the place of the own block is understood)
  void* output = nullptr;
  bool in_place = false;
  /// Bytes that MPI obliges all ranks to agree on: the vector, or one block, or (allgatherv, reduce_scatter) all blocks together;
  /// 0 for gatherv, scatterv, alltoallv, where no size is known to all.
  std::size_t agreed_bytes = 0;
  Blocks input_blocks;   ///< scatter(v), alltoall(v), reduce_scatter: of input
  Blocks output_blocks;  ///< gather(v), allgather(v), alltoall(v): of output
  std::size_t own_bytes = 0;  ///< gather(v), allgather(v): size of the own block; scatter(v), reduce_scatter: of the received one; vectors: their size
  Reduction reduction;
};

enum class Outcome : std::uint8_t {
  done,
  native,  ///< leave this call to the MPI; the same on all ranks
  error,   ///< see Communicator::error()
};

}  // namespace hocket::engine
