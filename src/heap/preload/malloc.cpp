// libhocket_heap.so, preloaded with HOCKET_SHARED_HEAP=1: malloc and its kin, of which large pieces come from
// memory that the node's worker can map, and all others from whoever would have given them without it.
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include <cstring>

#include "heap/process_segment.hpp"
#include "heap/shared_heap.h"

namespace hocket::heap {
namespace {

/// Smaller pieces are not worth whole pages, nor a lock that all threads share.
constexpr std::size_t least_bytes = std::size_t{64} << 10U;

/// Those that would have been called without this library.
struct Next {
  void* (*malloc)(std::size_t);
  void (*free)(void*);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  std::size_t (*malloc_usable_size)(void*);
};
constinit Next next{};

/// What finding them out takes itself: glibc's dlsym() may call calloc().
class Beginning {
 public:
  void* take(std::size_t bytes) noexcept {
    if (bytes > sizeof memory_) return nullptr;
    bytes = (bytes + 15) & ~std::size_t{15};
    if (bytes > sizeof memory_ - used_) return nullptr;
    return memory_ + (used_ += bytes) - bytes;
  }
  bool holds(const void* piece) const noexcept {
    const auto* const at = static_cast<const std::byte*>(piece);
    return at >= memory_ && at < memory_ + sizeof memory_;
  }
  std::size_t size_of(const void* piece) const noexcept {
    return static_cast<std::size_t>(memory_ + sizeof memory_ - static_cast<const std::byte*>(piece));
  }

 private:
  alignas(16) std::byte memory_[4096]{};
  std::size_t used_ = 0;
};
constinit Beginning beginning;

template <class Function>
void find(Function*& function, const char* name) noexcept {
  function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// False: this is a call of its own. There is one thread when a process begins. Forks are seen to now, before
/// any library can register what it does in one: what is registered first has the last word before a fork,
/// and the first one in its child.
bool has_next() noexcept {
  static constinit bool is_finding = false;
  if (next.malloc) return true;
  if (is_finding) return false;
  is_finding = true;
  find(next.free, "free");
  find(next.calloc, "calloc");
  find(next.realloc, "realloc");
  find(next.memalign, "memalign");
  find(next.malloc_usable_size, "malloc_usable_size");
  find(next.malloc, "malloc");
  is_finding = false;
  if (next.malloc) see_to_forks();
  return next.malloc != nullptr;
}

/// Null: it is not ours to give.
void* shared_piece(std::size_t bytes, std::size_t alignment, bool& is_zero) noexcept {
  if (bytes < least_bytes || !has_next()) return nullptr;
  const int before = errno;
  void* const piece = take_from_process_segment(bytes, alignment, is_zero);
  errno = before;
  return piece;
}

void* shared_piece(std::size_t bytes, std::size_t alignment = Segment::least_alignment) noexcept {
  bool is_zero = false;
  return shared_piece(bytes, alignment, is_zero);
}

/// Of any piece, wherever it has come from.
std::size_t usable(void* piece) noexcept {
  if (!piece) return 0;
  if (process_segment().holds(piece)) return Segment::size_of(piece);
  if (beginning.holds(piece)) return beginning.size_of(piece);
  return has_next() ? next.malloc_usable_size(piece) : 0;
}

void give_back(void* piece) noexcept {
  const int before = errno;
  if (process_segment().holds(piece))
    process_segment().give_back(piece);
  else if (!beginning.holds(piece) && has_next())
    next.free(piece);
  errno = before;
}

void* moved(void* piece, std::size_t bytes, void* to) noexcept {
  if (!to) return nullptr;
  const std::size_t had = usable(piece);
  std::memcpy(to, piece, had < bytes ? had : bytes);
  give_back(piece);
  return to;
}

/// Whether it stays where it is: it grows into what its piece has anyway, or becomes not much shorter.
bool stays(void* piece, std::size_t bytes) noexcept {
  const std::size_t has = Segment::size_of(piece);
  return bytes <= has && bytes >= has / 2;
}

std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

bool is_power_of_two(std::size_t n) noexcept {
  return n != 0 && (n & (n - 1)) == 0;
}

}  // namespace
}  // namespace hocket::heap

using namespace hocket::heap;

#define HOCKET_EXPORT extern "C" __attribute__((visibility("default")))

HOCKET_EXPORT void hocket_heap_shape(struct hocket_heap_shape* shape) {
  const Segment::Shape now = process_segment().shape();
  *shape = {now.base, now.bytes, now.file.number(), now.file.device(), now.file.inode()};
}

HOCKET_EXPORT void* malloc(std::size_t bytes) {
  if (void* const piece = shared_piece(bytes)) return piece;
  return has_next() ? next.malloc(bytes) : beginning.take(bytes);
}

HOCKET_EXPORT void free(void* piece) {
  if (piece) give_back(piece);
}

HOCKET_EXPORT void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  bool is_zero = false;
  if (!__builtin_mul_overflow(count, size, &bytes))
    if (void* const piece = shared_piece(bytes, Segment::least_alignment, is_zero))
      return is_zero ? piece : std::memset(piece, 0, bytes);
  return has_next() ? next.calloc(count, size) : beginning.take(bytes);
}

HOCKET_EXPORT void* realloc(void* piece, std::size_t bytes) {
  if (!piece) return malloc(bytes);
  if (process_segment().holds(piece)) {
    if (bytes == 0) return give_back(piece), nullptr;
    return stays(piece, bytes) ? piece : moved(piece, bytes, malloc(bytes));
  }
  if (beginning.holds(piece)) return moved(piece, bytes, malloc(bytes));
  if (void* const shared = shared_piece(bytes)) return moved(piece, bytes, shared);
  return has_next() ? next.realloc(piece, bytes) : nullptr;
}

HOCKET_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) {
  if (is_power_of_two(alignment))
    if (void* const piece = shared_piece(bytes, alignment)) return piece;
  return has_next() ? next.memalign(alignment, bytes) : nullptr;
}

HOCKET_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return memalign(alignment, bytes);
}

HOCKET_EXPORT int posix_memalign(void** piece, std::size_t alignment, std::size_t bytes) {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int before = errno;
  void* const found = memalign(alignment, bytes);
  errno = before;
  if (!found) return ENOMEM;
  *piece = found;
  return 0;
}

HOCKET_EXPORT void* valloc(std::size_t bytes) {
  return memalign(page_bytes(), bytes);
}

HOCKET_EXPORT void* pvalloc(std::size_t bytes) {
  const std::size_t page = page_bytes();
  if (bytes > SIZE_MAX - page) return errno = ENOMEM, nullptr;
  return memalign(page, (bytes + page - 1) / page * page);
}

HOCKET_EXPORT std::size_t malloc_usable_size(void* piece) {
  return usable(piece);
}
