// Slots of an arena: what ranks get, share, and give back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "engine/arena.hpp"
#include "harness/arena_ranks.hpp"

namespace hocket::engine {
namespace {

using test::come_up;
using test::distinct;
using test::ForkedRanks;
using test::in_sealed_arena;
using test::meet;
using test::new_key;

TEST(Arena, slots_are_zero_aligned_shared_and_used_again) {
  const auto texts = in_sealed_arena(2, [&](auto& arena, int rank) -> std::string {
    std::byte* first = nullptr;
    for (std::uint64_t round = 0; round < 20; ++round) {
      const Slot slot = arena->carve({round, 5, 1}, 600'000,
                                     2);  // two of these do not fit
      if (!slot.memory) return "no memory in round " + std::to_string(round);
      if (reinterpret_cast<std::uintptr_t>(slot.memory) % 4096) return "not aligned";
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
  });
  EXPECT_EQ(distinct(texts), std::set<std::string>{"good 20"});  // one page for each barrier
}

TEST(Arena, a_spent_budget_is_the_same_answer_for_all) {
  const auto texts = in_sealed_arena(4, [&](auto& arena, int) -> std::string {
    std::string answers;
    for (std::uint64_t round = 0; round < 60; ++round) {
      const bool granted = arena->carve({round, 1, 1}, 40'000, 4).memory != nullptr;
      answers += granted ? '+' : '-';
    }
    return answers;
  });
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

TEST(Arena, a_slot_whose_content_does_not_matter_is_handed_out_as_it_was_left) {
  auto arena = come_up(new_key(), 0, 1);
  ASSERT_TRUE(arena->sealed());
  const Slot first = arena->carve({1, 1, 0}, 5'000, 1, Content::anything);
  ASSERT_NE(first.memory, nullptr);
  std::memset(first.memory, 0xff, first.bytes);
  arena->release({1, 1, 0});
  const Slot second = arena->carve({2, 1, 0}, 5'000, 1, Content::anything);
  ASSERT_EQ(second.memory, first.memory);
  EXPECT_EQ(std::count(second.memory, second.memory + second.bytes, std::byte{0xff}), second.bytes);
  arena->release({2, 1, 0});
  const Slot third = arena->carve({3, 1, 0}, 5'000, 1);
  EXPECT_EQ(std::count(third.memory, third.memory + third.bytes, std::byte{0}), third.bytes);
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
  const auto texts = in_sealed_arena(2, [&](auto& arena, int rank) -> std::string {
    if (rank == 1) meet(*arena, 1, 2);
    std::string text = "granted";
    try {
      arena->carve({7, 7, 7}, rank == 0 ? 100 : 200, 2);
    } catch (const std::exception& error) {
      text = error.what();
    }
    if (rank == 0) meet(*arena, 1, 2);
    return text;
  });
  EXPECT_EQ(texts[0], "granted");
  EXPECT_NE(texts[1].find("different sizes: 100 and 200"), std::string::npos) << texts[1];
}

}  // namespace
}  // namespace hocket::engine
