// The directory of slots: searches in a crowded one, and what is left of one whose owner died.
#include "engine/slot_directory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "engine/arena_memory.hpp"
#include "harness/arena_ranks.hpp"

namespace hocket::engine {
namespace {

using test::come_up;
using test::new_key;
using test::settings;

/// Searches pass over what has been removed, kept and given back in every order.
TEST(SlotDirectory, both_users_of_a_slot_hear_the_same_in_a_crowded_directory) {
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

TEST(SlotDirectory, a_slot_is_found_though_the_idle_one_before_it_was_given_back_for_it) {
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

}  // namespace
}  // namespace hocket::engine
