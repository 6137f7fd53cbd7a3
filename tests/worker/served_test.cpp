// What a rank tells its worker, carried out: every row of the catalog, how much is kept for the next call,
// numbers that come again, and in which order long calls are carried out.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory_resource>
#include <string>
#include <vector>

#include "every_row.hpp"
#include "harness/seed.hpp"

namespace hocket::worker {
namespace {

using namespace engine::handover;

constexpr ir::Rank ranks = 4;

TEST(Served, EveryRowIsCarriedOut) {
  Node node(ranks, getpid());
  expect_every_row_is_carried_out(node, std::pmr::get_default_resource());
}

/// Blocks of several slices, and vectors whose chunks are some of the time.
TEST(Served, EveryRowIsCarriedOutInSlices) {
  Node node(ranks, getpid());
  expect_every_row_is_carried_out(node, std::pmr::get_default_resource(),
                                  {100'000, 1, std::size_t{300} << 10U});
}

/// Nothing is read or written but by the schedules themselves: the buffers are never looked at as a
/// process's.
TEST(Served, EveryRowIsCarriedOutOnMappedMemory) {
  const SharedMemory shared(std::size_t{64} << 20U);
  std::pmr::monotonic_buffer_resource memory(shared.data(), std::size_t{64} << 20U,
                                             std::pmr::null_memory_resource());
  std::pmr::unsynchronized_pool_resource pieces(&memory);
  Node node(ranks, getpid(), Node::much, std::vector(ranks, shared.range()));
  expect_every_row_is_carried_out(node, &pieces);
}

TEST(Served, SaysElsewhereWhatHasBecomeOfAnOperation) {
  std::mt19937_64 random(harness::test_seed());
  Node node(ranks, getpid());
  open(node, 1, 5, {0, 1, 2, 3});
  const NodeCall call(random, ranks, Function::allreduce, 100);
  std::array<std::atomic<std::uint8_t>, ranks> words{};
  for (ir::Rank rank = 0; rank < ranks; ++rank) {
    auto& word = words[static_cast<std::size_t>(rank)];
    node.tell(rank, call.define(rank, *call.rows().front(), 2, 1));
    node.tell(rank, StartElsewhere{{2, most_under_way + 7, 1}, reinterpret_cast<std::uintptr_t>(&word)});
    EXPECT_EQ(status_of(word.load()), Status::pending);
  }
  node.settle();
  for (ir::Rank rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(status_of(words[static_cast<std::size_t>(rank)].load()), Status::ok);
    EXPECT_EQ(call.data(rank).check(), "");
  }
}

/// Rank 0 waits in an allreduce that rank 1 has not started, whose network answers when it has turns.
std::vector<ir::Rank> suspected_in_a_wait(bool rank_1_has_turns) {
  constexpr std::uint64_t second = 1'000'000'000;
  std::mt19937_64 random(harness::test_seed());
  Node node(2, getpid());
  open(node, 1, 5, {0, 1});
  const NodeCall call(random, 2, Function::allreduce, 100);
  node.tell(0, call.define(0, *call.rows().front(), 2, 1));
  node.tell(0, Start{2, 0, 1});
  node.settle();
  for (std::uint64_t now = second; now < 20 * second; now += second / 4) {
    node.served(0).look_for_silence(now, 3 * second);
    for (int turn = 0; turn < 100; ++turn) rank_1_has_turns ? node.turn() : node.served(0).turn();
  }
  return node.suspected();
}

TEST(Served, SuspectsWhoDoesNotAnswer) {
  const std::vector<ir::Rank> suspected = suspected_in_a_wait(false);
  EXPECT_FALSE(suspected.empty());
  EXPECT_EQ(std::ranges::count(suspected, 1), std::ssize(suspected));
}

TEST(Served, SuspectsNobodyForBeingLate) {
  EXPECT_TRUE(suspected_in_a_wait(true).empty());
}

/// Allreduces of two ranks.
class Allreduces : public testing::Test {
 protected:
  void define(Node& node, std::uint32_t number, std::size_t bytes, std::uint32_t communicator = 1) {
    executors::Operation op;
    op.collective = ir::Collective::allreduce;
    op.input = memory.data();
    op.output = memory.data() + bytes;
    op.agreed_bytes = op.own_bytes = bytes;
    op.reduction.element_bytes = 4;
    op.reduction.kernel = kernels::find(kernels::OpKind::sum, kernels::ElementType::i32);
    Define define;
    define.number = number;
    define.communicator = communicator;
    define.recipe = "ring";
    describe(op, 2, define);
    for (ir::Rank rank = 0; rank < 2; ++rank) node.tell(rank, define);
  }

  SharedMemory memory{std::size_t{8} << 20U};
};

class IdleMirrors : public Allreduces {
 protected:
  static constexpr std::size_t vector_bytes = std::size_t{64} << 10U;

  void run(Node& node, std::uint32_t number) {
    for (ir::Rank rank = 0; rank < 2; ++rank) {
      node.clear(rank, 0);
      node.tell(rank, Start{number, 0, 1});
    }
    node.settle();
    for (ir::Rank rank = 0; rank < 2; ++rank) EXPECT_EQ(node.status(rank, 0), Status::ok);
  }
};

TEST_F(IdleMirrors, AreKeptUpToALimit) {
  Node node(2, getpid(), 10 * vector_bytes);
  open(node, 1, 5, {0, 1});
  for (std::uint32_t number = 1; number <= 40; ++number) {
    define(node, number, vector_bytes);
    run(node, number);
    EXPECT_LE(node.served(0).idle_bytes(), 10 * vector_bytes);
  }
  EXPECT_GE(node.served(0).idle_bytes(), 6 * vector_bytes);
  for (std::uint32_t number = 1; number <= 40; ++number) run(node, number);  // those that went come back
  for (ir::Rank rank = 0; rank < 2; ++rank) node.tell(rank, Close{1});
  node.settle();
  EXPECT_EQ(node.served(0).idle_bytes(), 0U);
}

TEST_F(IdleMirrors, TheLastOneStaysHoweverLarge) {
  Node node(2, getpid(), vector_bytes);
  open(node, 1, 5, {0, 1});
  define(node, 1, 2 * vector_bytes);
  define(node, 2, 3 * vector_bytes);
  run(node, 1);
  EXPECT_GE(node.served(0).idle_bytes(), 4 * vector_bytes);
  run(node, 2);
  EXPECT_GE(node.served(0).idle_bytes(), 6 * vector_bytes);
  EXPECT_LT(node.served(0).idle_bytes(), 10 * vector_bytes);
}

TEST_F(IdleMirrors, GoWithTheirDefinition) {
  Node node(2, getpid());
  open(node, 1, 5, {0, 1});
  define(node, 1, vector_bytes);
  run(node, 1);
  EXPECT_GE(node.served(0).idle_bytes(), 2 * vector_bytes);
  for (ir::Rank rank = 0; rank < 2; ++rank) node.tell(rank, Forget{1});
  node.settle();
  EXPECT_EQ(node.served(0).idle_bytes(), 0U);
}

/// Its operation was started before another call got its number.
TEST_F(IdleMirrors, AreNotThoseOfAForgottenCall) {
  Node node(2, getpid());
  open(node, 1, 5, {0, 1});
  define(node, 1, vector_bytes);
  for (ir::Rank rank = 0; rank < 2; ++rank) node.tell(rank, Start{1, 0, 1});
  node.tell(1, Abandon{0});  // so that rank 0 waits
  node.settle();
  for (ir::Rank rank = 0; rank < 2; ++rank) node.tell(rank, Forget{1});
  define(node, 1, 2 * vector_bytes);
  node.tell(0, Abandon{0});
  node.settle();
  EXPECT_EQ(node.served(0).idle_bytes(), 0U);
  run(node, 1);
  EXPECT_GE(node.served(0).idle_bytes(), 4 * vector_bytes);
}

/// Call i is of so many bytes, and has completion i.
class LongCalls : public Allreduces {
 protected:
  static constexpr std::size_t long_bytes = std::size_t{4} << 20U, short_bytes = 1000;

  void start(const std::vector<std::size_t>& bytes) {
    open(node, 1, 5, {0, 1});
    for (std::uint32_t i = 0; i < bytes.size(); ++i) {
      define(node, 1 + i, bytes[i]);
      for (ir::Rank rank = 0; rank < 2; ++rank) node.tell(rank, Start{1 + i, i, 1});
    }
  }
  /// After how many turns.
  int end_of(std::uint32_t call) {
    for (; node.status(0, call) == Status::pending && turns < 10'000; ++turns) node.turn();
    EXPECT_EQ(node.status(0, call), Status::ok);
    return turns;
  }

  Node node{2, getpid()};
  int turns = 0;
};

TEST_F(LongCalls, AreCarriedOutOneAfterTheOther) {
  start({long_bytes, long_bytes});
  const int first = end_of(0);
  EXPECT_GT(end_of(1) - first, first / 2);
}

TEST_F(LongCalls, AreNotWaitedForByAShortOne) {
  start({long_bytes, short_bytes});
  const int after = end_of(1);
  EXPECT_GT(end_of(0), 2 * after);
}

TEST_F(LongCalls, GoOnAfterOnesThatWereGivenUp) {
  start({long_bytes, long_bytes, long_bytes});
  node.turn();
  for (ir::Rank rank = 0; rank < 2; ++rank) node.tell(rank, Abandon{1});  // it waits
  for (ir::Rank rank = 0; rank < 2; ++rank) node.tell(rank, Abandon{0});  // it has begun
  end_of(2);
  EXPECT_EQ(node.status(0, 0), Status::failed);
  EXPECT_EQ(node.status(0, 1), Status::failed);
}

/// The second time with operations that were kept.
TEST_F(LongCalls, AreStartedAgainWhileTheyWait) {
  start({long_bytes, long_bytes});
  for (std::uint32_t i = 2; i < 6; ++i)
    for (ir::Rank rank = 0; rank < 2; ++rank) node.tell(rank, Start{1 + i % 2, i, 1});
  for (std::uint32_t i = 0; i < 6; ++i) end_of(i);
  for (std::uint32_t i = 0; i < 6; ++i) {
    for (ir::Rank rank = 0; rank < 2; ++rank) {
      node.clear(rank, i);
      node.tell(rank, Start{1 + i % 2, i, 1});
    }
  }
  for (std::uint32_t i = 0; i < 6; ++i) end_of(i);
}

/// Ranks may start calls of different communicators in any order.
TEST_F(LongCalls, OfDifferentCommunicatorsDoNotWaitForEachOther) {
  open(node, 1, 5, {0, 1});
  open(node, 2, 6, {0, 1});
  for (std::uint32_t communicator : {1U, 2U}) define(node, communicator, long_bytes, communicator);
  for (ir::Rank rank = 0; rank < 2; ++rank)
    for (std::uint32_t i = 0; i < 2; ++i) {
      const std::uint32_t call = rank == 0 ? i : 1 - i;
      node.tell(rank, Start{1 + call, call, 1});
    }
  end_of(0);
  end_of(1);
}

}  // namespace
}  // namespace hocket::worker
