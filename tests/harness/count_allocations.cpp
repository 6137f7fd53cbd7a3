#include "harness/count_allocations.hpp"

#include <cerrno>
#include <cstddef>

namespace {

thread_local std::uint64_t count = 0;

}  // namespace

// The C library's own, under the names by which it allows to replace the others.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming)
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t number, std::size_t bytes);
void* __libc_realloc(void* old, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
// NOLINTEND(readability-identifier-naming)

void* malloc(std::size_t bytes) {
  ++count;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t number, std::size_t bytes) {
  ++count;
  return __libc_calloc(number, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  ++count;
  return __libc_realloc(old, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  ++count;
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}
}

namespace hocket::harness {

std::uint64_t allocations() noexcept {
  return count;
}

Uncounted::Uncounted() noexcept : before_(count) {}

Uncounted::~Uncounted() {
  count = before_;
}

}  // namespace hocket::harness
