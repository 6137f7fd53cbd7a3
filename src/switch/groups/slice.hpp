// Bytes that several connections send at their own pace: one block for all of them, freed by the last.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace hocket::aggregation {

struct Slice {
  std::shared_ptr<const std::byte[]> block;
  std::span<const std::byte> data;

  /// A part of it, of the same block.
  Slice part(std::size_t begin, std::size_t bytes) const { return {block, data.subspan(begin, bytes)}; }
};

Slice copy_of(std::span<const std::byte> data);

}  // namespace hocket::aggregation
