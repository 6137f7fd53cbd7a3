// Memory of this process that other processes may map: one memfd, of which pieces are given out. It works
// before constructors have run, since malloc does (preload/): no C++ run time, and no memory but its own.
//
// A fork leaves the child with a copy of its own, as it does with all other memory: see before_fork().
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heap/memory_file.hpp"

namespace hocket::heap {

class Segment {
 public:
  /// A piece is at least that far from its extent's beginning, and its address a multiple of it.
  static constexpr std::size_t least_alignment = 64;
  /// What is free is given back to the system beyond this: below, it is used again without page faults.
  static constexpr std::size_t kept_bytes = std::size_t{64} << 20U;

  struct Shape {
    void* base = nullptr;
    std::size_t bytes = 0;
    MemoryFile file;
  };

  constexpr Segment() = default;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// Address space and a file of so many bytes, of which none are used yet. False: there cannot be one, here
  /// or under a limit; then it gives nothing out. Once.
  bool open(std::size_t bytes) noexcept;

  /// Null: there is no room. `alignment`: a power of two. `is_zero`: all of it is.
  void* take(std::size_t bytes, std::size_t alignment, bool& is_zero) noexcept;
  void give_back(void* piece) noexcept;
  /// Whether it is a piece of this segment, in any process that has inherited it.
  bool holds(const void* piece) const noexcept {
    const std::byte* const base = base_.load(std::memory_order_acquire);
    const auto* const at = static_cast<const std::byte*>(piece);
    return base && at >= base && at < base + bytes_;
  }
  /// Of a piece: how much of it may be used, which is what was asked for or a little more.
  static std::size_t size_of(const void* piece) noexcept;

  /// What others may map. No intact file: nothing, as after a fork.
  Shape shape() const noexcept;

  // Around a fork, during which nobody else takes or gives back anything.
  void before_fork() noexcept;
  void after_fork_in_parent() noexcept;
  void after_fork_in_child() noexcept;

 private:
  /// At the beginning of each extent, which are whole pages, one after the other.
  struct Extent {
    std::size_t bytes;
    std::size_t bytes_before;  ///< of the extent before it; 0: it is the first
    Extent* next;              ///< of those that are free and of its class
    Extent* previous;
    bool is_free;
    bool is_clean;  ///< all behind this header is zero
  };
  static constexpr unsigned classes = 48;

  Extent* after(Extent* extent) const noexcept;
  unsigned class_of(std::size_t bytes) const noexcept;
  Extent* find(std::size_t bytes) const noexcept;
  void enlist(Extent* extent) noexcept;
  void strike(Extent* extent) noexcept;
  void cut(Extent* extent, std::size_t bytes) noexcept;
  Extent* join(Extent* left, Extent* right) noexcept;
  void clean(Extent* extent) noexcept;
  Extent* join_neighbours(Extent* extent) noexcept;
  void clean_all() noexcept;
  bool give_to_system(std::byte* begin, std::size_t bytes) const noexcept;
  std::byte* base() const noexcept { return base_.load(std::memory_order_relaxed); }
  bool fits_twice() const noexcept;
  void copy_to_twin() noexcept;
  void copy_file() noexcept;
  void copy_extents() noexcept;
  void lose() noexcept;
  /// This thread is in the middle of a fork, and its child's copy is made already.
  bool is_in_fork() const noexcept { return forking_.load(std::memory_order_relaxed) == pthread_self(); }

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<std::byte*> base_{
      nullptr};  ///< after all else is there: who frees something asks without a lock
  std::size_t bytes_ = 0;
  std::size_t page_ = 4096;
  MemoryFile file_;
  enum class Kind : std::uint8_t {
    shared,
    own,   ///< a child's copy
    kept,  ///< a child's view of the file: its pages would be the parent's again if they were given back
    lost,
  } kind_ = Kind::shared;
  std::size_t kept_ = 0;  ///< bytes that are free and not clean
  Extent* free_[classes] = {};
  std::byte* twin_ = nullptr;  ///< what a child gets
  std::atomic<pthread_t> forking_{};
};

}  // namespace hocket::heap
