#include "registration/userfault_watch.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "registration/mappings.hpp"

namespace hocket::registration {

namespace {

constexpr long nap_ns = 5'000;

/// The last one says how old the kernel is at most: before 5.15 it does not count changes that overlap.
constexpr std::uint64_t needed_features = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMOVE |
                                          UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_PAGEFAULT_FLAG_WP |
                                          UFFD_FEATURE_EXACT_ADDRESS;  // 5.18

Error refusal(const char* what) {
  return Error(std::string("changes of memory cannot be watched: ") + what + ": " + std::strerror(errno));
}

Descriptor opened() {
  const auto low = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY));
  if (low < 0) throw refusal("userfaultfd");
  Descriptor events = Descriptor::moved_up(low);
  uffdio_api wanted{};
  wanted.api = UFFD_API;
  wanted.features = needed_features;
  if (ioctl(events.number(), UFFDIO_API, &wanted) != 0) throw refusal("its events");
  return events;
}

Pages changed_by(const uffd_msg& event) noexcept {
  switch (event.event) {
    case UFFD_EVENT_REMAP:
      return {event.arg.remap.from, event.arg.remap.from + event.arg.remap.len};
    case UFFD_EVENT_REMOVE:
    case UFFD_EVENT_UNMAP:
      return {event.arg.remove.start, event.arg.remove.end};
    default:
      return all_memory;
  }
}

uffdio_range range_of(const Pages& pages) noexcept {
  return {pages.begin, pages.bytes()};
}

}  // namespace

UserfaultWatch::UserfaultWatch() : events_(opened()) {
  ending_ = Descriptor::moved_up(eventfd(0, EFD_CLOEXEC));
  if (!ending_) throw refusal("eventfd");
  start_thread();
}

/// The program's signals are the program's threads'.
void UserfaultWatch::start_thread() {
  const auto run = [](void* watch) -> void* {
    static_cast<UserfaultWatch*>(watch)->listen();
    return nullptr;
  };
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread_, nullptr, run, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  if (error != 0) throw refusal("no thread");
}

UserfaultWatch::~UserfaultWatch() {
  if (mark_.is_in_child()) return;  // where the thread is not
  const std::uint64_t one = 1;
  while (write(ending_.number(), &one, sizeof one) < 0 && errno == EINTR) {
  }
  pthread_join(thread_, nullptr);
}

/// Nobody is to wait for events that nobody reads: whoever does goes on when the descriptor is closed.
void UserfaultWatch::listen() noexcept {
  std::array<pollfd, 2> ready{{{events_.number(), POLLIN, 0}, {ending_.number(), POLLIN, 0}}};
  for (;;) {
    if (poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) continue;
    const std::lock_guard lock(mutex_);
    read_events();
    if (is_lost_) return;
    if (ready[1].revents == 0) continue;
    is_lost_ = true;
    return events_.reset();
  }
}

void UserfaultWatch::read_events() noexcept {
  for (uffd_msg event;;) {
    // it does not block: NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection)
    const ssize_t length = read(events_.number(), &event, sizeof event);
    if (length == static_cast<ssize_t>(sizeof event))
      log_.add(changed_by(event));
    else if (length >= 0 || errno != EINTR) {
      is_lost_ = is_lost_ || length >= 0 || errno != EAGAIN;
      return;
    }
  }
}

void UserfaultWatch::Log::add(const Pages& one) noexcept {
  if (count == pages.size()) {
    count = 0;
    pages[count++] = all_memory;
  } else if (count == 0 || pages[0] != all_memory) {
    pages[count++] = one;
  }
}

/// The kernel counts changes from before they are made until their event has been read, and puts no page
/// anywhere meanwhile: asked for no page at all, it says whether it would.
UserfaultWatch::Now UserfaultWatch::state() noexcept {
  uffdio_zeropage nothing{};
  if (ioctl(events_.number(), UFFDIO_ZEROPAGE, &nothing) == 0) return Now::settled;
  if (errno != EAGAIN && errno != EINVAL) is_lost_ = true;
  return errno == EAGAIN ? Now::changing : Now::settled;
}

std::span<const Pages> UserfaultWatch::changes() noexcept {
  const std::lock_guard lock(mutex_);
  while (!is_lost_ && state() == Now::changing) {
    read_events();
    sleep_ns(nap_ns);  // until who makes the change runs again
  }
  if (is_lost_) return {&all_memory, 1};
  if (log_.count == 0) return {};
  told_ = log_;
  log_.count = 0;
  return {told_.pages.data(), told_.count};
}

/// The thread may give the descriptor up meanwhile.
bool UserfaultWatch::ask(unsigned long what, void* argument) noexcept {
  const std::lock_guard lock(mutex_);
  return !is_lost_ && ioctl(events_.number(), what, argument) == 0;
}

/// Faults on protected pages are what it asks for, as it protects none.
bool UserfaultWatch::begin(const Pages& pages) noexcept {
  uffdio_register wanted{};
  wanted.range = range_of(pages);
  wanted.mode = UFFDIO_REGISTER_MODE_WP;
  if (!ask(UFFDIO_REGISTER, &wanted)) return false;
  if (are_private_memory(pages)) return true;  // allocates: not under the lock
  end(pages);
  return false;
}

void UserfaultWatch::end(const Pages& pages) noexcept {
  uffdio_range range = range_of(pages);
  ask(UFFDIO_UNREGISTER, &range);
}

}  // namespace hocket::registration
