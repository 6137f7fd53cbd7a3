// What the kernel has been asked for.
#include "worker/short_turns.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <thread>

namespace hocket::worker {
namespace {

/// Of this thread, in ns; 0: the kernel does not tell.
std::uint64_t turn() {
  std::array<std::byte, 48> attributes{};  // sched_getattr(2)
  if (syscall(SYS_sched_getattr, 0, attributes.data(), attributes.size(), 0U) != 0) return 0;
  std::uint64_t runtime = 0;
  std::memcpy(&runtime, attributes.data() + 24, sizeof runtime);
  return runtime;
}

TEST(ShortTurns, AreThoseOfTheThreadThatAsks) {
  const std::uint64_t usual = turn();
  if (usual == 0) GTEST_SKIP() << "this kernel does not tell of turns (before Linux 6.12)";
  if (sched_getscheduler(0) != SCHED_OTHER) GTEST_SKIP() << "of another policy";
  std::uint64_t asked = 0;
  int before = 0, after = 0;
  std::thread([&] {
    const auto self = static_cast<id_t>(gettid());
    setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + 1);
    before = getpriority(PRIO_PROCESS, self);
    ask_for_short_turns();
    asked = turn();
    after = getpriority(PRIO_PROCESS, self);
  }).join();
  EXPECT_EQ(asked, 100'000U);
  EXPECT_EQ(after, before) << "its niceness stays";
  EXPECT_EQ(turn(), usual);
}

TEST(ShortTurns, AreNotForOtherPolicies) {
  std::thread([] {
    const sched_param none{};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    ask_for_short_turns();
    EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH) << "stays";
  }).join();
}

}  // namespace
}  // namespace hocket::worker
