#include "heap/segment.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace hocket::heap {
namespace {

constexpr std::size_t rounded(std::size_t bytes, std::size_t to) noexcept {
  return (bytes + to - 1) & ~(to - 1);
}

/// How far a piece is from its extent's beginning: the word before it.
std::size_t& distance(void* piece) noexcept {
  return static_cast<std::size_t*>(piece)[-1];
}

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) noexcept : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace

/// In a core dump the system would read all of it, and so make memory of what is none.
bool Segment::open(std::size_t bytes) noexcept {
  static_assert(sizeof(Extent) + sizeof(std::size_t) <= least_alignment);
  const Lock lock(mutex_);
  if (base()) return true;  // by a thread of the parent in whose middle of this it was forked
  if (const long page = sysconf(_SC_PAGESIZE); page > 0) page_ = static_cast<std::size_t>(page);
  bytes &= ~(page_ - 1);
  if (bytes == 0 || !file_.open(bytes)) return false;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_.number(), 0);
  if (memory == MAP_FAILED) return file_.close(), false;
  madvise(memory, bytes, MADV_DONTDUMP);
  bytes_ = bytes;
  auto* const all = static_cast<Extent*>(memory);
  *all = {bytes, 0, nullptr, nullptr, true, true};
  enlist(all);
  base_.store(static_cast<std::byte*>(memory), std::memory_order_release);
  return true;
}

Segment::Shape Segment::shape() const noexcept {
  void* const base = base_.load(std::memory_order_acquire);
  if (!base || !file_.is_intact()) return {};
  return {base, bytes_, file_};
}

Segment::Extent* Segment::after(Extent* extent) const noexcept {
  auto* const next = reinterpret_cast<std::byte*>(extent) + extent->bytes;
  return next < base() + bytes_ ? reinterpret_cast<Extent*>(next) : nullptr;
}

/// Of extents of 2^n pages and more, up to the next power.
unsigned Segment::class_of(std::size_t bytes) const noexcept {
  const auto power = static_cast<unsigned>(63 - __builtin_clzll(bytes / page_));
  return power < classes ? power : classes - 1;
}

/// Any of a greater class has room; of the same only some have.
Segment::Extent* Segment::find(std::size_t bytes) const noexcept {
  for (unsigned n = class_of(bytes); n < classes; ++n)
    for (Extent* one = free_[n]; one; one = one->next)
      if (one->bytes >= bytes) return one;
  return nullptr;
}

void Segment::enlist(Extent* extent) noexcept {
  Extent*& first = free_[class_of(extent->bytes)];
  extent->is_free = true;
  extent->previous = nullptr;
  extent->next = first;
  if (first) first->previous = extent;
  first = extent;
  if (!extent->is_clean) kept_ += extent->bytes;
}

void Segment::strike(Extent* extent) noexcept {
  (extent->previous ? extent->previous->next : free_[class_of(extent->bytes)]) = extent->next;
  if (extent->next) extent->next->previous = extent->previous;
  extent->is_free = false;
  if (!extent->is_clean) kept_ -= extent->bytes;
}

/// Of one that is not listed; what is left over is free.
void Segment::cut(Extent* extent, std::size_t bytes) noexcept {
  if (extent->bytes == bytes) return;
  auto* const rest = reinterpret_cast<Extent*>(reinterpret_cast<std::byte*>(extent) + bytes);
  *rest = {extent->bytes - bytes, bytes, nullptr, nullptr, true, extent->is_clean};
  extent->bytes = bytes;
  if (Extent* const next = after(rest)) next->bytes_before = rest->bytes;
  enlist(rest);
}

/// Neither is listed, both are clean or not. The right one's header becomes memory like any other.
Segment::Extent* Segment::join(Extent* left, Extent* right) noexcept {
  left->bytes += right->bytes;
  const bool is_given = left->is_clean && give_to_system(reinterpret_cast<std::byte*>(right), page_);
  if (!is_given) std::memset(static_cast<void*>(right), 0, sizeof *right);
  if (Extent* const next = after(left)) next->bytes_before = left->bytes;
  return left;
}

/// By madvise, since MPIs that keep memory registered with a network look out for that. It is zero
/// afterwards.
bool Segment::give_to_system(std::byte* begin, std::size_t bytes) const noexcept {
  if (kind_ == Kind::kept) return false;
  return madvise(begin, bytes, kind_ == Kind::shared ? MADV_REMOVE : MADV_DONTNEED) == 0;
}

void Segment::clean(Extent* extent) noexcept {
  auto* const begin = reinterpret_cast<std::byte*>(extent);
  if (kind_ == Kind::kept) return;
  if (extent->bytes > page_ && !give_to_system(begin + page_, extent->bytes - page_)) return;
  std::memset(begin + sizeof *extent, 0, page_ - sizeof *extent);
  extent->is_clean = true;
}

/// What is clean and what is not are never one.
void Segment::clean_all() noexcept {
  for (auto* extent = reinterpret_cast<Extent*>(base()); extent; extent = after(extent)) {
    if (!extent->is_free || extent->is_clean) continue;
    strike(extent);
    clean(extent);
    enlist(extent = join_neighbours(extent));
  }
}

void* Segment::take(std::size_t bytes, std::size_t alignment, bool& is_zero) noexcept {
  if (bytes > bytes_ || alignment > bytes_) return nullptr;
  if (is_in_fork()) return nullptr;
  const Lock lock(mutex_);
  if (alignment < least_alignment) alignment = least_alignment;
  const std::size_t reach = alignment <= page_ ? alignment : alignment + page_;
  const std::size_t whole = rounded(bytes + reach, page_);
  Extent* extent = find(whole);
  if (!extent && kept_ != 0) {
    clean_all();
    extent = find(whole);
  }
  if (!extent) return nullptr;
  strike(extent);
  cut(extent, whole);
  is_zero = extent->is_clean;
  extent->is_clean = false;
  const auto begin = reinterpret_cast<std::uintptr_t>(extent);
  auto* const piece =
      reinterpret_cast<std::byte*>(extent) + (rounded(begin + least_alignment, alignment) - begin);
  distance(piece) = static_cast<std::size_t>(piece - reinterpret_cast<std::byte*>(extent));
  return piece;
}

std::size_t Segment::size_of(const void* piece) noexcept {
  const std::size_t from = static_cast<const std::size_t*>(piece)[-1];
  const auto* const extent = reinterpret_cast<const Extent*>(static_cast<const std::byte*>(piece) - from);
  return extent->bytes - from;
}

/// What is clean stays so.
Segment::Extent* Segment::join_neighbours(Extent* extent) noexcept {
  const auto fits = [extent](const Extent* one) {
    return one && one->is_free && one->is_clean == extent->is_clean;
  };
  if (Extent* const right = after(extent); fits(right)) {
    strike(right);
    join(extent, right);
  }
  if (extent->bytes_before == 0) return extent;
  auto* const left = reinterpret_cast<Extent*>(reinterpret_cast<std::byte*>(extent) - extent->bytes_before);
  if (!fits(left)) return extent;
  strike(left);
  return join(left, extent);
}

/// In the middle of a fork it is lost, in parent and child.
void Segment::give_back(void* piece) noexcept {
  if (is_in_fork()) return;
  const Lock lock(mutex_);
  if (kind_ == Kind::lost) return;
  auto* const extent = reinterpret_cast<Extent*>(static_cast<std::byte*>(piece) - distance(piece));
  if (kept_ + extent->bytes > kept_bytes) clean(extent);
  enlist(join_neighbours(extent));
}

/// The copy is memory of its own, as soon as it is written.
bool Segment::fits_twice() const noexcept {
  const std::size_t used = file_.used_bytes(), free = free_memory();
  return used == 0 || free == 0 || used < free - free / 8;
}

/// Holes stay holes.
void Segment::copy_file() noexcept {
  for (off_t at = 0, end = 0; (at = lseek(file_.number(), end, SEEK_DATA)) >= 0;) {
    end = lseek(file_.number(), at, SEEK_HOLE);
    if (end <= at) return copy_extents();
    std::memcpy(twin_ + at, base() + at, static_cast<std::size_t>(end - at));
  }
}

/// Where the program has closed the file: all that may not be zero.
void Segment::copy_extents() noexcept {
  for (auto* extent = reinterpret_cast<Extent*>(base()); extent; extent = after(extent)) {
    const bool is_empty = extent->is_free && extent->is_clean;
    std::memcpy(twin_ + (reinterpret_cast<std::byte*>(extent) - base()), extent,
                is_empty ? sizeof *extent : extent->bytes);
  }
}

/// The child's copy: private memory at another address until the child puts it in place.
void Segment::copy_to_twin() noexcept {
  if (!fits_twice()) return;
  void* const twin =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (twin == MAP_FAILED) return;
  twin_ = static_cast<std::byte*>(twin);
  file_.is_intact() ? copy_file() : copy_extents();
}

/// What the copying itself may take comes from elsewhere.
void Segment::before_fork() noexcept {
  pthread_mutex_lock(&mutex_);
  forking_.store(pthread_self(), std::memory_order_relaxed);
  if (base() && kind_ == Kind::shared) copy_to_twin();
}

void Segment::after_fork_in_parent() noexcept {
  if (twin_) munmap(std::exchange(twin_, nullptr), bytes_);
  forking_.store({}, std::memory_order_relaxed);
  pthread_mutex_unlock(&mutex_);
}

/// Nothing is given out any more, and what has been is not there.
void Segment::lose() noexcept {
  munmap(base(), bytes_);
  std::memset(static_cast<void*>(free_), 0, sizeof free_);
  kept_ = 0;
  kind_ = Kind::lost;
}

/// Where there was no memory for a copy, it sees what the parent writes later, in pages that it does not
/// write itself; the parent never sees what it writes. Where not even that is to be had, it has nothing
/// there. A child of a child is as any other process's.
void Segment::after_fork_in_child() noexcept {
  pthread_mutex_init(&mutex_, nullptr);
  forking_.store({}, std::memory_order_relaxed);
  if (!base() || kind_ != Kind::shared) return;
  kind_ = twin_ ? Kind::own : Kind::kept;
  const void* place = MAP_FAILED;
  if (twin_)
    place = mremap(std::exchange(twin_, nullptr), bytes_, bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, base());
  else if (file_.is_intact())
    place = mmap(base(), bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                 file_.number(), 0);
  if (place == MAP_FAILED) lose();
  file_.close();
}

}  // namespace hocket::heap
