#include "engine/arena.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "engine/arena_memory.hpp"
#include "engine/slot_directory.hpp"
#include "unit/forked_ranks.hpp"

namespace hocket::engine {
namespace {

using test::come_up;
using test::ForkedRanks;
using test::meet;
using test::new_key;
using test::settings;

std::set<std::string> distinct(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

TEST(Arena, one_to_eight_ranks_come_up_with_the_same_view) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    const std::string key = new_key();
    const auto texts = ForkedRanks()
                           .start_all(ranks,
                                      [&](int rank) {
                                        auto arena = come_up(key, rank, ranks);
                                        if (!arena->sealed()) return "out: " + arena->why();
                                        std::string members;
                                        for (Rank world = 0; world < 10 * ranks; ++world)
                                          if (arena->has(world)) members += std::to_string(world) + " ";
                                        return members + std::to_string(arena->local_ranks()) + " " +
                                               std::to_string(arena->cores_for_job()) + " '" +
                                               arena->absentees() + "'";
                                      })
                           .wait();
    std::string expected;
    for (int rank = 0; rank < ranks; ++rank) expected += std::to_string(10 * rank + 1) + " ";
    ASSERT_EQ(distinct(texts).size(), 1u) << ranks;
    EXPECT_TRUE(texts[0].starts_with(expected + std::to_string(ranks) + " ")) << texts[0];
    EXPECT_TRUE(texts[0].ends_with(" ''")) << texts[0];
  }
}

TEST(Arena, ranks_find_each_others_cards_hosts_and_processes) {
  const std::string key = new_key();
  const auto texts =
      ForkedRanks()
          .start_all(3,
                     [&](int rank) -> std::string {
                       auto arena = come_up(key, rank, 3);
                       if (!arena->sealed()) return "out: " + arena->why();
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
                     })
          .wait();
  EXPECT_EQ(distinct(texts), std::set<std::string>{"good"});
}

TEST(Arena, local_rank_0_may_come_last_and_need_not_act_after_its_introduction) {
  const std::string key = new_key();
  ForkedRanks ranks;
  ranks.start(0, [&](int) -> std::string {
    usleep(200'000);
    auto arena = come_up(key, 0, 2);
    sleep(2);  // computes
    return arena->sealed() ? "sealed" : arena->why();
  });
  ranks.start(1, [&](int) -> std::string {
    auto arena = come_up(key, 1, 2);
    const auto begin = time(nullptr);
    const bool sealed = arena->sealed();
    return sealed && time(nullptr) - begin < 2 ? "sealed" : "late: " + arena->why();
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
  auto arena = come_up(new_key(), 0, 2, settings(0.1));
  arena->set_poke([](void*) noexcept { ++pokes; }, nullptr);
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

TEST(Arena, slots_are_zero_aligned_shared_and_used_again) {
  const std::string key = new_key();
  const auto texts = ForkedRanks()
                         .start_all(2,
                                    [&](int rank) -> std::string {
                                      auto arena = come_up(key, rank, 2);
                                      if (!arena->sealed()) return arena->why();
                                      std::byte* first = nullptr;
                                      for (std::uint64_t round = 0; round < 20; ++round) {
                                        const Slot slot = arena->carve({round, 5, 1}, 600'000,
                                                                       2);  // two of these do not fit
                                        if (!slot.memory)
                                          return "no memory in round " + std::to_string(round);
                                        if (reinterpret_cast<std::uintptr_t>(slot.memory) % 4096)
                                          return "not aligned";
                                        if (!first) first = slot.memory;
                                        if (slot.memory != first) return "moved";
                                        for (std::size_t i = rank; i < slot.bytes; i += 2) {
                                          if (slot.memory[i] != std::byte{0}) return "not zero";
                                          slot.memory[i] = std::byte{0xff};
                                        }
                                        arena->release({round, 5, 1});
                                        meet(*arena, round, 2);
                                      }
                                      return "good " + std::to_string(arena->used_bytes() / 4096);
                                    })
                         .wait();
  EXPECT_EQ(distinct(texts), std::set<std::string>{"good 20"});  // one page for each barrier
}

TEST(Arena, a_spent_budget_is_the_same_answer_for_all) {
  const std::string key = new_key();
  const auto texts = ForkedRanks()
                         .start_all(4,
                                    [&](int rank) {
                                      auto arena = come_up(key, rank, 4);
                                      if (!arena->sealed()) return arena->why();
                                      std::string answers;
                                      for (std::uint64_t round = 0; round < 60; ++round) {
                                        const bool granted =
                                            arena->carve({round, 1, 1}, 40'000, 4).memory != nullptr;
                                        answers += granted ? '+' : '-';
                                      }
                                      return answers;
                                    })
                         .wait();
  EXPECT_EQ(distinct(texts).size(), 1u);
  EXPECT_EQ(texts[0], std::string(25, '+') + std::string(35, '-'));  // 256 pages, 10 for each slot
}

TEST(Arena, a_denied_slot_is_granted_later_when_there_is_room) {
  auto arena = come_up(new_key(), 0, 1);
  ASSERT_TRUE(arena->sealed());
  ASSERT_NE(arena->carve({1, 1, 1}, 1 << 19, 1).memory, nullptr);
  EXPECT_EQ(arena->carve({2, 1, 1}, 1 << 20, 1).memory, nullptr);
  arena->release({1, 1, 1});
  EXPECT_NE(arena->carve({2, 1, 1}, 1 << 20, 1).memory, nullptr);
  EXPECT_EQ(arena->used_bytes(), std::size_t{1} << 20);
}

TEST(Arena, many_more_slots_than_entries_one_after_the_other) {
  auto arena = come_up(new_key(), 0, 1);
  ASSERT_TRUE(arena->sealed());
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    ASSERT_NE(arena->carve({i, i * 7, 0}, 64, 1).memory, nullptr) << i;
    arena->release({i, i * 7, 0});
  }
  EXPECT_EQ(arena->used_bytes(), 0u);
}

TEST(Arena, freed_slots_keep_their_pages_and_serve_again_zeroed) {
  auto arena = come_up(new_key(), 0, 1);
  ASSERT_TRUE(arena->sealed());
  std::set<std::byte*> first, second;
  for (const auto round : {&first, &second})
    for (std::uint64_t i = 0; i < 8; ++i) {
      const Slot slot = arena->carve({i, 1, 0}, i % 2 ? 5'000 : 9'000 + i, 1);
      ASSERT_NE(slot.memory, nullptr);
      EXPECT_EQ(std::count(slot.memory, slot.memory + slot.bytes, std::byte{0}), slot.bytes);
      std::memset(slot.memory, 0xff, slot.bytes);
      round->insert(slot.memory);
      if (i == 7)
        for (std::uint64_t j = 0; j < 8; ++j) arena->release({j, 1, 0});
    }
  EXPECT_EQ(first, second);
  EXPECT_EQ(first.size(), 8u);
  EXPECT_EQ(arena->used_bytes(), 0u);
}

TEST(Arena, idle_slots_make_room_for_slots_of_other_sizes) {
  auto arena = come_up(new_key(), 0, 1);
  ASSERT_TRUE(arena->sealed());
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_NE(arena->carve({i, 1, 0}, 8'000, 1).memory, nullptr);
  for (std::uint64_t i = 0; i < 100; ++i) arena->release({i, 1, 0});  // more than are kept
  const Slot all = arena->carve({1, 2, 0}, 1 << 20, 1);
  ASSERT_NE(all.memory, nullptr);
  EXPECT_EQ(arena->carve({2, 2, 0}, 1, 1).memory, nullptr);
  arena->release({1, 2, 0});
  const Slot small = arena->carve({3, 2, 0}, 1, 1);
  ASSERT_NE(small.memory, nullptr);
  EXPECT_EQ(small.memory[0], std::byte{0});
}

/// Searches pass over what has been removed, kept and given back in every order.
TEST(Arena, both_users_of_a_slot_hear_the_same_in_a_crowded_directory) {
  auto with = settings();
  with.budget_bytes = 10 << 20;
  auto arena = come_up(new_key(), 0, 1, with);
  ASSERT_TRUE(arena->sealed());
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  std::vector<SlotKey> live;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const SlotKey key{i, i, 0};
    const std::size_t bytes = (1 + random() % 2) * arena_page;
    std::byte* const memory = arena->carve(key, bytes, 2).memory;
    ASSERT_EQ(arena->carve(key, bytes, 2).memory, memory) << "slot " << i << ", seed " << seed;
    if (memory) live.push_back(key);
    for (int some = random() % 3; some > 0 && !live.empty() && !(memory && i < 2'000); --some) {
      std::swap(live[random() % live.size()], live.back());
      for (int user = 0; user < 2; ++user) arena->release(live.back());
      live.pop_back();
    }
  }
  for (const SlotKey& key : live)
    for (int user = 0; user < 2; ++user) arena->release(key);
  EXPECT_EQ(arena->used_bytes(), 0u) << "seed " << seed;
}

/// A directory whose other rank died while it held the lock: no process is behind local rank 1.
class Orphaned : public ::testing::Test {
 protected:
  void other_rank_dies_in_a_change() { memory_.header().directory_owner = 2; }
  SlotEntry* entry_at(std::byte* memory) {
    SlotEntry* const all = memory_.directory();
    return std::find_if(all, all + slot_entries, [&](const SlotEntry& entry) {
      return entry.state != SlotState::unused && memory_.slots() + entry.offset == memory;
    });
  }

  ArenaMemory memory_ = ArenaMemory::create("orphaned", 2, 1 << 20);
  SlotDirectory directory_{memory_, 0};
};

TEST_F(Orphaned, idle_slots_are_never_used_again) {
  std::byte* const idle = directory_.carve({1, 1, 1}, 100'000, 1).memory;
  std::byte* const live = directory_.carve({2, 1, 1}, 100'000, 1).memory;
  directory_.release({1, 1, 1});
  other_rank_dies_in_a_change();
  EXPECT_NE(directory_.carve({3, 1, 1}, 100'000, 1).memory, idle);
  EXPECT_EQ(directory_.carve({4, 1, 1}, 1 << 20, 1).memory, nullptr);  // nor given back for want of memory
  EXPECT_EQ(entry_at(idle)->state, SlotState::lost);
  EXPECT_EQ(entry_at(live)->state, SlotState::live);
}

TEST_F(Orphaned, a_slot_that_had_just_replaced_an_idle_one_stays_whole) {
  std::byte* const replaced = directory_.carve({1, 1, 1}, 50'000, 1).memory;
  directory_.release({1, 1, 1});
  const SlotEntry idle = *entry_at(replaced);
  std::byte* const live = directory_.carve({2, 1, 1}, 50'000, 1).memory;
  ASSERT_EQ(live, replaced);
  memory_.directory()[7] = idle;  // as if its removal had not been reached
  memory_.header().occupancy.set(7);
  other_rank_dies_in_a_change();
  live[0] = std::byte{1};
  for (std::uint64_t i = 0; i < 30; ++i) {
    const Slot slot = directory_.carve({i, 2, 1}, 50'000, 1);
    EXPECT_TRUE(!slot.memory || std::abs(slot.memory - live) >= 50'000);
  }
  EXPECT_EQ(live[0], std::byte{1});
}

/// Where the search for this key begins: its place in a directory in which nothing is live.
std::ptrdiff_t place_of(const SlotKey& key) {
  const ArenaMemory memory = ArenaMemory::create("place", 1, 1 << 20);
  SlotDirectory(memory, 0).carve(key, 1, 1);
  SlotEntry* const all = memory.directory();
  return std::find_if(all, all + slot_entries,
                      [](const SlotEntry& entry) { return entry.state == SlotState::live; }) -
         all;
}

TEST(Arena, a_slot_is_found_though_the_idle_one_before_it_was_given_back_for_it) {
  std::map<std::ptrdiff_t, SlotKey> keys;
  SlotKey key{0, 3, 1};
  while (keys.emplace(place_of(key), key).second) ++key.origin;
  const SlotKey before = keys[place_of(key)];
  auto arena = come_up(new_key(), 0, 1);
  ASSERT_TRUE(arena->sealed());
  ASSERT_NE(arena->carve(before, 1, 1).memory, nullptr);
  arena->release(before);
  std::byte* const memory = arena->carve(key, 1 << 20, 2).memory;
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(arena->carve(key, 1 << 20, 2).memory, memory);
}

/// Each process carves and releases the same slots in an order of its own; live slots must not overlap, and
/// all must agree. The sizes are few, so that freed slots are used again, and together too large.
std::string carve_at_random(Arena& arena, int rank, unsigned seed) {
  constexpr int slots = 24;
  std::mt19937 shared(seed), own(seed + 1000u * static_cast<unsigned>(rank));
  std::string answers;
  test::Meeting meeting(arena, 0, 3);
  for (std::uint64_t round = 0; round < 30; ++round) {
    std::vector<std::size_t> sizes(slots), order(slots);
    for (std::size_t& size : sizes) size = (1 + shared() % 6) * 15'000 - shared() % 4;
    for (std::size_t i = 0; i < slots; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), own);
    std::vector<Slot> mine(slots);
    for (std::size_t i : order) mine[i] = arena.carve({round, i, 3}, sizes[i], 3);
    const auto own_bytes = [&](std::size_t i, auto visit) {
      for (std::size_t at = static_cast<std::size_t>(rank); mine[i].memory && at < sizes[i]; at += 3)
        visit(mine[i].memory[at]);
    };
    bool zero = true, kept = true;
    for (std::size_t i = 0; i < slots; ++i)
      own_bytes(i, [&](std::byte& byte) {
        zero = zero && byte == std::byte{0};
        byte = std::byte(i + 1);
      });
    meeting.meet();
    for (std::size_t i = 0; i < slots; ++i) {
      answers += mine[i].memory ? '+' : '-';
      own_bytes(i, [&](std::byte& byte) { kept = kept && byte == std::byte(i + 1); });
    }
    if (!zero || !kept) return zero ? "overlap" : "not zero";
    std::shuffle(order.begin(), order.end(), own);
    for (std::size_t i : order)
      if (mine[i].memory) arena.release({round, i, 3});
    meeting.meet();
    answers += ' ';
  }
  return answers;
}

TEST(Arena, random_carving_by_three_ranks_agrees) {
  const unsigned seed = std::random_device()();
  const std::string key = new_key();
  const auto texts =
      ForkedRanks()
          .start_all(3,
                     [&](int rank) {
                       auto arena = come_up(key, rank, 3);
                       return arena->sealed() ? carve_at_random(*arena, rank, seed) : arena->why();
                     })
          .wait();
  EXPECT_EQ(distinct(texts).size(), 1u) << "seed " << seed;
  EXPECT_NE(texts[0].find('+'), std::string::npos) << texts[0];
}

TEST(Arena, different_sizes_for_one_slot_are_an_error) {
  const std::string key = new_key();
  const auto texts = ForkedRanks()
                         .start_all(2,
                                    [&](int rank) -> std::string {
                                      auto arena = come_up(key, rank, 2);
                                      if (!arena->sealed()) return arena->why();
                                      if (rank == 1) meet(*arena, 1, 2);
                                      std::string text = "granted";
                                      try {
                                        arena->carve({7, 7, 7}, rank == 0 ? 100 : 200, 2);
                                      } catch (const std::exception& error) {
                                        text = error.what();
                                      }
                                      if (rank == 0) meet(*arena, 1, 2);
                                      return text;
                                    })
                         .wait();
  EXPECT_EQ(texts[0], "granted");
  EXPECT_NE(texts[1].find("different sizes: 100 and 200"), std::string::npos) << texts[1];
}

bool any_line_with(const char* path, const std::string& word) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.find(word) != std::string::npos) return true;
  return false;
}

TEST(Arena, leaves_nothing_behind) {
  const std::string key = new_key();
  const pid_t self = getpid();
  auto socket_names = [] {
    std::set<std::string> names;
    std::ifstream file("/proc/net/unix");
    for (std::string line; std::getline(file, line);)
      if (const auto at = line.find("@hocket-"); at != line.npos) names.insert(line.substr(at));
    return names;
  };
  const auto before = socket_names();
  ForkedRanks()
      .start_all(2,
                 [&](int rank) -> std::string {
                   auto arena = come_up(key, rank, 2);
                   return arena->sealed() ? "sealed" : arena->why();
                 })
      .wait();
  std::set<std::string> after = socket_names();
  for (const std::string& name : before) after.erase(name);
  EXPECT_TRUE(after.empty()) << *after.begin();
  EXPECT_FALSE(any_line_with("/proc/self/maps", "memfd:hocket"));
  EXPECT_EQ(getpid(), self);
}

}  // namespace
}  // namespace hocket::engine
