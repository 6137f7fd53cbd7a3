#include "switch/groups/slice.hpp"

#include <algorithm>

namespace hocket::aggregation {

Slice copy_of(std::span<const std::byte> data) {
  if (data.empty()) return {};
  std::shared_ptr<std::byte[]> block = std::make_shared_for_overwrite<std::byte[]>(data.size());
  std::ranges::copy(data, block.get());
  const std::span<const std::byte> bytes(block.get(), data.size());
  return {std::move(block), bytes};
}

}  // namespace hocket::aggregation
