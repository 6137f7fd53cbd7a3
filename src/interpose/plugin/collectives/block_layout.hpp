// Sizes and places of one block per rank, in bytes, as the engine reads them.
#pragma once

#include <cstddef>

#include "engine/call.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/scratch.hpp"

namespace hocket::interpose {

class BlockLayout {
 public:
  BlockLayout() = default;
  BlockLayout(Scratch& scratch, int ranks) : ranks_(static_cast<std::size_t>(ranks)) {
    sizes_ = scratch.array<std::size_t>(2 * ranks_);
    offsets_ = reinterpret_cast<std::ptrdiff_t*>(sizes_ + ranks_);
  }

  /// Counts of elements of `unit` bytes. False: one is negative.
  template <class N>
  bool measure(const N* counts, std::size_t unit) {
    N signs = 0;
    for (std::size_t i = 0; i < ranks_; ++i) {
      signs |= counts[i];
      sizes_[i] = static_cast<std::size_t>(counts[i]) * unit;
      total_ += sizes_[i];
    }
    return signs >= 0;
  }

  /// Where the program has put them.
  template <class D>
  void place(const D* displacements, std::ptrdiff_t extent) {
    for (std::size_t i = 0; i < ranks_; ++i)
      offsets_[i] = static_cast<std::ptrdiff_t>(displacements[i]) * extent;
  }

  /// One after the other.
  void line_up() {
    std::size_t end = 0;
    for (std::size_t i = 0; i < ranks_; ++i) {
      offsets_[i] = static_cast<std::ptrdiff_t>(end);
      end += sizes_[i];
    }
  }

  engine::Blocks blocks() const { return {0, sizes_, offsets_}; }
  std::size_t size(int rank) const { return sizes_[rank]; }
  std::ptrdiff_t offset(int rank) const { return offsets_[rank]; }
  std::size_t total() const { return total_; }

 private:
  std::size_t ranks_ = 0;
  std::size_t* sizes_ = nullptr;
  std::ptrdiff_t* offsets_ = nullptr;
  std::size_t total_ = 0;
};

}  // namespace hocket::interpose
