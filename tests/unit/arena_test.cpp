// How ranks come up in an arena, and what they know of each other there.
#include "engine/arena.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstring>
#include <fstream>

#include "engine/arena_sockets.hpp"
#include "harness/arena_ranks.hpp"

namespace hocket::engine {
namespace {

using test::come_up;
using test::distinct;
using test::Event;
using test::ForkedRanks;
using test::in_sealed_arena;
using test::meet;
using test::new_key;
using test::settings;

TEST(Arena, one_to_eight_ranks_come_up_with_the_same_view) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    const auto texts = in_sealed_arena(ranks, [&](auto& arena, int) -> std::string {
      std::string members;
      for (Rank world = 0; world < 10 * ranks; ++world)
        if (arena->has(world)) members += std::to_string(world) + " ";
      return members + std::to_string(arena->local_ranks()) + " " + std::to_string(arena->cores_for_job()) +
             " '" + arena->absentees() + "'";
    });
    std::string expected;
    for (int rank = 0; rank < ranks; ++rank) expected += std::to_string(10 * rank + 1) + " ";
    ASSERT_EQ(distinct(texts).size(), 1u) << ranks;
    EXPECT_TRUE(texts[0].starts_with(expected + std::to_string(ranks) + " ")) << texts[0];
    EXPECT_TRUE(texts[0].ends_with(" ''")) << texts[0];
  }
}

TEST(Arena, ranks_find_each_others_cards_hosts_and_processes) {
  const auto texts = in_sealed_arena(3, [&](auto& arena, int rank) -> std::string {
    const pid_t pid = getpid();
    std::memcpy(arena->card_of(10 * rank + 1).data(), &pid, sizeof pid);
    meet(*arena, 1, 3);
    for (int peer = 0; peer < 3; ++peer) {
      pid_t seen = 0;
      std::memcpy(&seen, arena->card_of(10 * peer + 1).data(), sizeof seen);
      if (seen != arena->pid_of(10 * peer + 1) || !arena->alive(10 * peer + 1))
        return "wrong card or dead peer";
    }
    meet(*arena, 2, 3);
    return arena->host_of(11) == arena->host_of(1) ? "good" : "hosts differ";
  });
  EXPECT_EQ(distinct(texts), std::set<std::string>{"good"});
}

TEST(Arena, local_rank_0_may_come_last_and_need_not_act_after_its_introduction) {
  const std::string key = new_key();
  const Event other_is_sealed;
  ForkedRanks ranks;
  ranks.start(0, [&](int) -> std::string {
    usleep(200'000);
    auto arena = come_up(key, 0, 2);
    other_is_sealed.wait();  // computes
    return arena->sealed() ? "sealed" : arena->why();
  });
  ranks.start(1, [&](int) -> std::string {
    auto arena = come_up(key, 1, 2);
    const bool sealed = arena->sealed();
    other_is_sealed.happen();
    return sealed ? "sealed" : "not sealed: " + arena->why();
  });
  EXPECT_EQ(ranks.wait(), (std::vector<std::string>{"sealed", "sealed"}));
}

TEST(Arena, two_jobs_do_not_meet) {
  const std::string keys[] = {new_key(), new_key()};
  const auto texts =
      ForkedRanks()
          .start_all(4,
                     [&](int process) -> std::string {
                       auto arena = come_up(keys[process / 2], process % 2, 2);
                       if (!arena->sealed()) return arena->why();
                       const Slot slot = arena->carve({1, 1, 1}, 64, 2);
                       __atomic_add_fetch(reinterpret_cast<int*>(slot.memory), 1, __ATOMIC_ACQ_REL);
                       meet(*arena, 1, 2);
                       return std::to_string(*reinterpret_cast<int*>(slot.memory));
                     })
          .wait();
  EXPECT_EQ(distinct(texts), std::set<std::string>{"2"});
}

TEST(Arena, pokes_the_host_while_it_waits) {
  static std::atomic<int> pokes;
  auto arena = come_up(new_key(), 0, 2, settings(0.5));
  arena->set_poke([](void*) noexcept { return ++pokes < 0; }, nullptr);
  EXPECT_TRUE(arena->sealed());
  EXPECT_GT(pokes, 10);
}

TEST(Arena, cores_are_the_union_of_the_ranks_masks) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one CPU";
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE && cpus.size() < 2; ++cpu)
    if (CPU_ISSET(cpu, &all)) cpus.push_back(cpu);
  const std::string key = new_key();
  const auto texts =
      ForkedRanks()
          .start_all(3,
                     [&](int rank) -> std::string {
                       cpu_set_t mine;
                       CPU_ZERO(&mine);
                       CPU_SET(cpus[static_cast<std::size_t>(rank % 2)], &mine);
                       sched_setaffinity(0, sizeof mine, &mine);
                       auto arena = come_up(key, rank, 3);
                       return arena->sealed() ? std::to_string(arena->cores_for_job()) : arena->why();
                     })
          .wait();
  EXPECT_EQ(distinct(texts), std::set<std::string>{"2"});
}

bool any_line_with(const char* path, const std::string& word) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.find(word) != std::string::npos) return true;
  return false;
}

TEST(Arena, leaves_nothing_behind) {
  const std::string key = new_key(), name = "@" + arena_name(key);
  const pid_t self = getpid();
  const auto texts = ForkedRanks()
                         .start_all(2,
                                    [&](int rank) -> std::string {
                                      auto arena = Arena::announce(test::job(key, rank, 2), settings());
                                      if (rank == 0 && !any_line_with("/proc/net/unix", name))
                                        return "unseen";
                                      arena->introduce(10 * rank + 1, 20);
                                      return arena->sealed() ? "sealed" : arena->why();
                                    })
                         .wait();
  EXPECT_EQ(texts, (std::vector<std::string>{"sealed", "sealed"}));
  EXPECT_FALSE(any_line_with("/proc/net/unix", name));
  EXPECT_FALSE(any_line_with("/proc/self/maps", "memfd:hocket"));
  EXPECT_EQ(getpid(), self);
}

}  // namespace
}  // namespace hocket::engine
