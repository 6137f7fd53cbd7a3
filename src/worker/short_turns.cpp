#include "worker/short_turns.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace hocket::worker {
namespace {

/// sched_setattr(2); the C library of some systems does not know it.
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;  ///< of SCHED_OTHER: of a turn, from 0.1 ms on
  std::uint64_t deadline_ns = 0, period_ns = 0;
};
static_assert(sizeof(Attributes) == 48);  // SCHED_ATTR_SIZE_VER0

}  // namespace

void ask_for_short_turns() noexcept {
  constexpr std::uint64_t shortest_ns = 100'000;
  Attributes wanted;
  wanted.nice = getpriority(PRIO_PROCESS, 0);
  wanted.runtime_ns = shortest_ns;
  if (sched_getscheduler(0) == SCHED_OTHER) syscall(SYS_sched_setattr, 0, &wanted, 0U);
}

}  // namespace hocket::worker
