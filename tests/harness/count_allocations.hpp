// Allocations of the calling thread: of `new` and of everything else, since the C library's functions are
// replaced. Link with count_allocations.cpp; not under sanitizers, which replace them as well.
#pragma once

#include <cstdint>

namespace hocket::harness {

/// So far, by this thread.
std::uint64_t allocations() noexcept;

/// Those of this thread while one lives are not counted.
class Uncounted {
 public:
  Uncounted() noexcept;
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;

 private:
  std::uint64_t before_;
};

}  // namespace hocket::harness
