// The kernel tells what it unmaps, whoever asks for it: events of userfaultfd, which need no privilege.
//
// munmap, mmap on top, mremap, brk, MADV_DONTNEED, MADV_FREE and MADV_REMOVE of watched memory return after
// their event has been read, by a thread that does nothing else: it takes no lock that is held while memory
// is allocated or freed, and allocates nothing. docs/design/0020-registration-cache.md says what is safe, and
// why.
#pragma once

#include <pthread.h>

#include <array>
#include <cstddef>
#include <mutex>

#include "base/descriptor.hpp"
#include "registration/fork_mark.hpp"
#include "registration/watch.hpp"

namespace hocket::registration {

class UserfaultWatch final : public Watch {
 public:
  /// Throws Error where the kernel does not offer it, or a sandbox forbids it.
  UserfaultWatch();
  ~UserfaultWatch() override;
  UserfaultWatch(const UserfaultWatch&) = delete;
  UserfaultWatch& operator=(const UserfaultWatch&) = delete;

  /// Private memory that no other userfaultfd watches.
  bool begin(const Pages& pages) noexcept override;
  void end(const Pages& pages) noexcept override;
  std::span<const Pages> changes() noexcept override;

 private:
  /// Of changes that nobody has asked for. More of them: all memory has changed.
  static constexpr std::size_t most_changes = 256;
  struct Log {
    std::array<Pages, most_changes> pages;
    std::size_t count = 0;
    void add(const Pages& one) noexcept;
  };
  enum class Now : bool { settled, changing };

  void start_thread();
  void listen() noexcept;
  void read_events() noexcept;
  bool ask(unsigned long what, void* argument) noexcept;
  Now state() noexcept;

  ForkMark mark_;
  Descriptor events_, ending_;
  pthread_t thread_{};
  std::mutex mutex_;  ///< held while events are read: who holds it knows of all that have been
  Log log_, told_;
  bool is_lost_ = false;  ///< for good: somebody has closed what was not theirs
};

}  // namespace hocket::registration
