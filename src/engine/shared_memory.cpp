#include "engine/shared_memory.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

#include "heap/process_segment.hpp"
#include "heap/shared_heap.h"

namespace hocket::engine {
namespace {

using Shape = struct hocket_heap_shape;

using Ask = void (*)(Shape*);

/// Null: there is no such malloc. From the beginning, or never.
Ask heap() noexcept {
  static const Ask ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "hocket_heap_shape"));
  return ask;
}

Shape shape_of_heap() noexcept {
  Shape shape{nullptr, 0, -1, 0, 0};
  if (heap()) heap()(&shape);
  return shape;
}

Shape own_shape() noexcept {
  const heap::Segment::Shape own = heap::process_segment().shape();
  return {own.base, own.bytes, own.file.number(), own.file.device(), own.file.inode()};
}

}  // namespace

std::vector<SharedRange> shared_ranges() {
  std::vector<SharedRange> ranges;
  for (const Shape& one : {own_shape(), shape_of_heap()})
    if (one.file >= 0)
      ranges.push_back(
          {reinterpret_cast<std::uintptr_t>(one.base), one.bytes, one.device, one.inode, one.file});
  return ranges;
}

/// It may be there and give out none: another malloc is in front of it, or the system allows none.
bool has_shared_heap() noexcept {
  constexpr std::size_t large = 256 << 10;
  void* const piece = std::malloc(large);
  const Shape shape = shape_of_heap();
  const auto begin = reinterpret_cast<std::uintptr_t>(shape.base);
  const auto address = reinterpret_cast<std::uintptr_t>(piece);
  std::free(piece);
  return shape.file >= 0 && address >= begin && address - begin < shape.bytes;
}

void* take_shared(std::size_t bytes) noexcept {
  bool is_zero = false;
  return heap::take_from_process_segment(bytes, heap::Segment::least_alignment, is_zero);
}

bool give_back_shared(void* piece) noexcept {
  heap::Segment& segment = heap::process_segment();
  if (!segment.holds(piece)) return false;
  segment.give_back(piece);
  return true;
}

}  // namespace hocket::engine
