#include "engine/shared_memory.hpp"

#include <dlfcn.h>

#include "heap/process_segment.hpp"
#include "heap/shared_heap.h"

namespace hocket::engine {
namespace {

using Shape = struct hocket_heap_shape;

/// That of malloc, if it is there.
Shape shape_of_heap() noexcept {
  const auto ask = reinterpret_cast<void (*)(Shape*)>(dlsym(RTLD_DEFAULT, "hocket_heap_shape"));
  Shape shape{nullptr, 0, -1};
  if (ask) ask(&shape);
  return shape;
}

void add(std::vector<SharedRange>& ranges, const void* base, std::size_t bytes, int file) {
  if (file >= 0) ranges.push_back({reinterpret_cast<std::uintptr_t>(base), bytes, file});
}

}  // namespace

std::vector<SharedRange> shared_ranges() {
  std::vector<SharedRange> ranges;
  const heap::Segment::Shape own = heap::process_segment().shape();
  add(ranges, own.base, own.bytes, own.file);
  const Shape heap = shape_of_heap();
  add(ranges, heap.base, heap.bytes, heap.file);
  return ranges;
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
