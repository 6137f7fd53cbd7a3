// Which blocks of the input a rank compresses: of each tile so many in a row, in the order of ranks, so that
// what the ranks have of a tile, one after the other, is a piece of the result. With one tile every rank has
// one contiguous part.
#pragma once

#include <algorithm>
#include <cstdint>

namespace compress {

struct Range {
  std::uint64_t begin = 0, end = 0;

  std::uint64_t size() const { return end - begin; }
};

struct Partition {
  std::uint64_t bytes;  // of the whole input
  std::uint64_t block;  // bytes that are compressed on their own
  int ranks;
  std::uint64_t tile;  // blocks of each rank that are communicated at once

  // One tile for everything.
  static Partition in_one(std::uint64_t bytes, std::uint64_t block, int ranks) {
    const std::uint64_t blocks = (bytes + block - 1) / block;
    return {bytes, block, ranks, std::max<std::uint64_t>(1, (blocks + ranks - 1) / ranks)};
  }

  std::uint64_t tile_bytes() const { return block * tile; }  // of one rank

  int tiles() const {
    const std::uint64_t of_all = tile_bytes() * ranks;
    return static_cast<int>((bytes + of_all - 1) / of_all);
  }

  // What a rank compresses of a tile; at the end of the input perhaps nothing.
  Range part(int tile_index, int rank) const {
    const std::uint64_t begin = (static_cast<std::uint64_t>(tile_index) * ranks + rank) * tile_bytes();
    return {std::min(begin, bytes), std::min(begin + tile_bytes(), bytes)};
  }
};

}  // namespace compress
