// Registrations of memory that are kept for the next time: registering pins pages, which takes longer than
// many an operation on them.
//
// A buffer is found by its address in O(log n), also inside of what was registered for a longer one. What
// overlaps is registered together, so that what is kept is disjoint. What nobody uses is kept until its
// memory changes, or room is needed: then the one unused for the longest time goes. Any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "registration/backend.hpp"
#include "registration/fork_mark.hpp"
#include "registration/pages.hpp"
#include "registration/watch.hpp"

namespace hocket::registration {

class Cache;

/// Of what is kept. What is in use beyond that is forgotten as soon as it is not.
struct Limits {
  std::size_t entries = 1024;
  std::size_t bytes = SIZE_MAX;

  /// A quarter of what the process may lock, and of the machine's memory.
  static Limits of_this_process() noexcept;
};

struct Counters {
  std::uint64_t hits = 0, misses = 0;
  std::uint64_t failures = 0;  ///< misses that could not be registered
  std::uint64_t evictions = 0, invalidations = 0;
  std::size_t entries = 0, pinned_bytes = 0;  ///< now, those in use included
};

struct Entry {
  Pages pages;
  void* handle = nullptr;
  std::size_t leases = 0;
  bool is_kept = false;  ///< it can be found
  std::list<Entry>::iterator self;
};

/// Memory stays registered while somebody holds this.
class Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept { *this = std::move(other); }
  Lease& operator=(Lease&& other) noexcept;
  ~Lease() { end(); }

  explicit operator bool() const noexcept { return entry_ != nullptr; }
  /// Of memory that begins at the buffer or before it. Null without a registration.
  void* handle() const noexcept { return entry_ ? entry_->handle : nullptr; }
  void end() noexcept;

 private:
  friend class Cache;
  Lease(Cache& cache, Entry& entry) noexcept : cache_(&cache), entry_(&entry) {}

  Cache* cache_ = nullptr;
  Entry* entry_ = nullptr;
};

class Cache {
 public:
  /// Without a watch nothing is kept: each lease registers its memory. Throws Error.
  Cache(Backend& backend, std::unique_ptr<Watch> watch, const Limits& limits);
  /// All leases are over by then.
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  /// Empty: it cannot be registered. In a child of fork() nothing is, and nothing is forgotten: all of it is
  /// the parent's.
  Lease lease(const void* address, std::size_t bytes) noexcept;

  bool keeps() const noexcept { return watch_ != nullptr; }
  Counters counters() const noexcept;

 private:
  friend class Lease;
  using Tree = std::map<std::uintptr_t, Entry*>;  // by where they begin

  Entry* covering(const Pages& wanted) noexcept;
  Tree::iterator first_overlapping(const Pages& pages) noexcept;
  Entry* make(const Pages& wanted);
  Pages with_overlapping(const Pages& wanted) noexcept;
  Entry* registered(const Pages& pages, bool is_watched);
  void* handle_for(const Pages& pages) noexcept;

  void use(Entry& entry) noexcept;
  void leave(Entry& entry) noexcept;
  void take_changes() noexcept;
  std::size_t drop_overlapping(const Pages& pages) noexcept;
  Tree::iterator drop(Tree::iterator place) noexcept;
  bool evict_oldest() noexcept;
  bool make_room(std::size_t bytes) noexcept;
  void forget(Entry& entry) noexcept;

  ForkMark mark_;
  Backend& backend_;
  const std::unique_ptr<Watch> watch_;
  const Limits limits_;
  mutable std::mutex mutex_;
  Tree tree_;
  std::list<Entry> idle_;  ///< kept and not in use, the one unused for the longest time in front
  std::list<Entry> busy_;
  Counters counters_;
};

}  // namespace hocket::registration
