#include "transports/waiting.hpp"

#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/clock.hpp"

namespace hocket::transports {
namespace {

constexpr std::uint32_t spins_per_poke = 128;
constexpr std::uint32_t asks_before_yield = 32;  // where a turn asks the MPI, and mostly a few times
constexpr std::uint32_t looks_before_rest = 128;
constexpr std::uint32_t yields_per_poke = 4;
constexpr std::uint64_t waits_per_rest = 16;
constexpr std::uint64_t nap_ns = 50'000;  // of who waits for what no futex can tell
constexpr std::uint64_t longest_nap_ns = 500'000;
constexpr long longest_poll_ns = 2'000'000;  // a small operation over slow links takes one
constexpr std::uint64_t most_without_poke_ns = 10'000'000;
constexpr std::uint64_t shortest_between_looks_ns = 1'000'000;
constexpr std::uint64_t longest_between_looks_ns = 50'000'000;

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void Patience::renew(Rank peer) noexcept {
  peer_ = peer;
  turns_ = 0;
  started_ns_ = looked_ns_ = 0;
}

Status Patience::pause(const void* word, std::uint32_t seen) noexcept {
  return word ? pause_for(word, seen) : pause_between_asks();
}

Status Patience::pause(const Blocker& blocker) noexcept {
  return blocker.word || blocker.descriptor < 0 ? pause(blocker.word, blocker.seen) : rest(blocker);
}

Status Patience::pause_for(const void* word, std::uint32_t seen) noexcept {
  const std::uint32_t turn = turns_++;
  if (waiting_.mode == WaitMode::spin && turn < spins_before_yield) {
    if (turn % spins_per_poke == spins_per_poke - 1) poke();
    relax();
    return Status::ok;
  }
  const std::uint32_t yields = waiting_.mode == WaitMode::spin ? turn - spins_before_yield : turn;
  if (waiting_.mode != WaitMode::sleep && yields < waiting_.yields) {
    if (yields % yields_per_poke == yields_per_poke - 1) poke();
    sched_yield();
    return Status::ok;
  }
  return sleep(word, seen);
}

Status Patience::pause_between_asks() noexcept {
  const std::uint32_t turn = turns_++;
  if (waiting_.mode == WaitMode::spin && turn < asks_before_yield) {
    relax();
    return Status::ok;
  }
  if (turn % yields_per_poke == yields_per_poke - 1) poke();
  return nap();
}

/// On cores that others use, too, a rank rests the longer the longer it has waited: what nobody tells of is
/// found a sixteenth of the wait later. Not where its other operations would wait for it.
std::uint64_t Patience::share_of_wait_ns(std::uint64_t longest_ns) noexcept {
  if (waiting_.mode == WaitMode::spin || has_more_to_do_ || started_ns_ == 0) return 0;
  return std::min((monotonic_ns() - started_ns_) / waits_per_rest, longest_ns);
}

Status Patience::sleep(const void* word, std::uint32_t seen) noexcept {
  if (started_ns_ == 0) started_ns_ = looked_ns_ = monotonic_ns();
  poke();
  const std::uint64_t most_ns = std::max(share_of_wait_ns(waiting_.longest_sleep_ns), shortest_sleep_ns);
  sleep_among(*waiting_.sleepers, word, seen, static_cast<long>(most_ns));
  return watch(monotonic_ns());
}

/// A long message comes in parts, for each of which the MPI has to be asked: naps stay short.
Status Patience::nap() noexcept {
  const std::uint64_t ns = share_of_wait_ns(longest_nap_ns);
  if (waiting_.mode == WaitMode::sleep || ns >= nap_ns)
    sleep_ns(static_cast<long>(std::max(ns, nap_ns)));
  else
    sched_yield();
  return watch(monotonic_ns());
}

/// Whoever has a core to itself asks first, and has time to ask the MPI often. On a core that others use,
/// too, the MPI is asked seldom: it may yield, and what has come is looked at first.
Status Patience::rest(const Blocker& blocker) noexcept {
  const bool has_core = waiting_.mode == WaitMode::spin;
  if (has_core && turns_++ < looks_before_rest) {
    relax();
    return Status::ok;
  }
  pollfd alarm{blocker.descriptor, blocker.events, 0};
  const timespec bound{0, has_core ? static_cast<long>(nap_ns) : longest_poll_ns};
  if (rested_ns_ == 0) rested_ns_ = monotonic_ns();
  const bool has_come = ppoll(&alarm, 1, &bound, nullptr) > 0;
  const std::uint64_t now = monotonic_ns();
  if (has_core || !has_come || now - rested_ns_ >= most_without_poke_ns) {
    rested_ns_ = now;
    poke();
  }
  return watch(now);
}

/// A look asks the system whether the peer lives: each millisecond, by 64 ranks on two cores, that was a
/// fifth of a profile. A death is noticed an eighth of the wait later.
Status Patience::watch(std::uint64_t now) noexcept {
  if (started_ns_ == 0) started_ns_ = looked_ns_ = now;
  const std::uint64_t waited_ns = now - started_ns_;
  if (now - looked_ns_ < std::clamp(waited_ns / 8, shortest_between_looks_ns, longest_between_looks_ns))
    return Status::ok;
  looked_ns_ = now;
  return waiting_.watch ? waiting_.watch->look(peer_, waited_ns) : Status::ok;
}

void sleep_among(std::atomic<std::uint32_t>& sleepers, const void* word, std::uint32_t seen,
                 long most_ns) noexcept {
  constexpr long second_ns = 1'000'000'000;
  const timespec bound{most_ns / second_ns, most_ns % second_ns};
  sleepers.fetch_add(1, std::memory_order_relaxed);
  syscall(SYS_futex, word, FUTEX_WAIT, seen, &bound, nullptr, 0);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void sleep_on(const void* word, std::uint32_t seen) noexcept {
  syscall(SYS_futex, word, FUTEX_WAIT, seen, nullptr, nullptr, 0);
}

void wake(const void* word) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace hocket::transports
