// Mailboxes of a node (transports/shm): writers are threads, or a process that dies.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "transports/shm/node_mail.hpp"

namespace hocket::transports::shm {
namespace {

using Memory = Mailbox::Memory;

bool put(Mailbox& box, Rank from, std::uint64_t number) {
  return box.put(from, sizeof number, [&](std::byte* data) { std::memcpy(data, &number, sizeof number); });
}

std::uint64_t number_in(const Mailbox::Message& message) {
  std::uint64_t number = 0;
  std::memcpy(&number, message.data, sizeof number);
  return number;
}

TEST(Mailbox, GivesWhatCameFirst) {
  const auto memory = std::make_unique<Memory>();
  Mailbox writer(*memory), owner(*memory);
  EXPECT_EQ(owner.front(), nullptr);
  for (std::uint64_t i = 0; i < 5 * Mailbox::slots; ++i) {
    ASSERT_TRUE(put(writer, 3, i));
    if (i < 2) continue;  // two stay behind
    const Mailbox::Message* message = owner.front();
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(message->from, 3);
    EXPECT_EQ(message->bytes, sizeof i);
    EXPECT_EQ(number_in(*message), i - 2);
    owner.drop();
  }
}

TEST(Mailbox, RefusesWhatItHasNoRoomFor) {
  const auto memory = std::make_unique<Memory>();
  Mailbox writer(*memory), owner(*memory);
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < Mailbox::slots; ++i) ASSERT_TRUE(put(writer, 0, i));
    EXPECT_FALSE(put(writer, 0, 99));
    owner.front();
    owner.drop();
    EXPECT_TRUE(put(writer, 0, Mailbox::slots));
    EXPECT_FALSE(put(writer, 0, 99));
    for (std::uint64_t i = 1; i <= Mailbox::slots; ++i) {
      ASSERT_NE(owner.front(), nullptr);
      EXPECT_EQ(number_in(*owner.front()), i);
      owner.drop();
    }
    EXPECT_EQ(owner.front(), nullptr);
  }
}

TEST(Mailbox, TakesTheLongestMessageAndTheEmptyOne) {
  const auto memory = std::make_unique<Memory>();
  Mailbox writer(*memory), owner(*memory);
  ASSERT_TRUE(writer.put(1, 0, [](std::byte*) {}));
  ASSERT_TRUE(
      writer.put(1, Mailbox::longest, [](std::byte* data) { std::memset(data, 7, Mailbox::longest); }));
  EXPECT_EQ(owner.front()->bytes, 0U);
  owner.drop();
  const Mailbox::Message* message = owner.front();
  EXPECT_EQ(message->bytes, Mailbox::longest);
  EXPECT_EQ(message->data[Mailbox::longest - 1], std::byte{7});
}

/// Each writer's in its order, none twice, none lost, though the box is full most of the time.
TEST(Mailbox, HasManyWriters) {
  constexpr std::uint64_t each = 20'000;
  constexpr Rank writers = 3;
  const auto memory = std::make_unique<Memory>();
  std::vector<std::thread> threads;
  for (Rank me = 0; me < writers; ++me)
    threads.emplace_back([&, me] {
      Mailbox box(*memory);
      for (std::uint64_t i = 0; i < each; ++i)
        while (!put(box, me, i)) std::this_thread::yield();
    });
  Mailbox owner(*memory);
  std::array<std::uint64_t, writers> expected{};
  for (std::uint64_t left = writers * each; left > 0;) {
    const Mailbox::Message* message = owner.front();
    if (!message) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(number_in(*message), expected.at(static_cast<std::size_t>(message->from))++);
    owner.drop();
    --left;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(owner.front(), nullptr);
}

/// A message that does not end the sleep that waits for it lets the test run into its limit.
TEST(Mailbox, WakesItsOwner) {
  constexpr long second_ns = 1'000'000'000, too_long_ns = 900 * second_ns;
  const auto memory = std::make_unique<Memory>();
  Mailbox owner(*memory);
  for (std::uint64_t i = 0; i < 20; ++i) {
    std::thread writer([&] {
      Mailbox box(*memory);
      while (owner.sleepers() == 0) std::this_thread::yield();
      put(box, 0, i);
    });
    while (!owner.front()) {
      const Blocker blocker = owner.blocker(0);
      if (!owner.front()) sleep_among(owner.sleepers(), blocker.word, blocker.seen, too_long_ns);
    }
    writer.join();
    EXPECT_EQ(number_in(*owner.front()), i);
    owner.drop();
  }
}

/// What it has sent before arrives, and others are refused at the end instead of waiting for ever.
TEST(Mailbox, SurvivesAWriterThatDies) {
  void* const shared =
      mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  Memory& memory = *static_cast<Memory*>(shared);
  const pid_t child = fork();
  if (child == 0) {
    Mailbox box(memory);
    put(box, 5, 1);
    box.put(5, 8, [](std::byte*) { raise(SIGKILL); });
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  Mailbox writer(memory), owner(memory);
  ASSERT_NE(owner.front(), nullptr);
  EXPECT_EQ(number_in(*owner.front()), 1U);
  owner.drop();
  std::uint32_t taken = 0;
  while (taken <= Mailbox::slots && put(writer, 6, 2)) ++taken;
  EXPECT_LT(taken, Mailbox::slots);
  EXPECT_EQ(owner.front(), nullptr);
  munmap(shared, sizeof(Memory));
}

TEST(NodeMail, KnowsWhoIsOnTheNode) {
  const NodeRanks ranks({2, 5, 9});
  const auto memory = std::make_unique<Memory[]>(ranks.size());
  auto* const bytes = reinterpret_cast<std::byte*>(memory.get());
  NodeMail two(bytes, ranks, 2), nine(bytes, ranks, 9);
  EXPECT_EQ(two.of(3), nullptr);
  EXPECT_EQ(two.of(10), nullptr);
  ASSERT_NE(two.of(9), nullptr);
  ASSERT_TRUE(put(*two.of(9), two.self(), 4));
  ASSERT_NE(nine.own().front(), nullptr);
  EXPECT_EQ(nine.own().front()->from, 2);
  EXPECT_EQ(two.own().front(), nullptr);
}

}  // namespace
}  // namespace hocket::transports::shm
