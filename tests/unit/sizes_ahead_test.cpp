// Sizes that go ahead of an alltoallv by leaders: who sends what to whom, and what a leader makes of it.
#include "engine/sizes_ahead.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "executors/binding.hpp"

namespace hocket::engine {
namespace {

using executors::Operation;
using ir::Collective;
using ir::OpCode;

/// Ranks 0, 2, 4 and 1, 3, 5 are on two nodes.
const passes::Neighbourhood& nodes() {
  static const passes::Neighbourhood near({{0, 1, 0, 1, 0, 1}});
  return near;
}

passes::Recipe by_nodes() {
  passes::Recipe recipe = passes::plain(*algorithms::find(Collective::alltoall, "linear"));
  recipe.by.add(passes::Level::nodes);
  return recipe;
}

AheadPlan plan_of(Rank rank) {
  return AheadPlan(passes::build_ahead(by_nodes(), {Collective::alltoall, 6, rank}, &nodes()));
}

std::size_t sent(std::size_t from, std::size_t to) {
  return 10 * from + to;
}

/// One rank's alltoallv, in which sizes tell everything.
struct Alltoallv {
  std::size_t to[6], from[6];
  Operation op;
  explicit Alltoallv(std::size_t rank) {
    for (std::size_t r = 0; r < 6; ++r) {
      to[r] = sent(rank, r);
      from[r] = sent(r, rank);
    }
    op.collective = Collective::alltoall;
    op.input_blocks.sizes = to;
    op.output_blocks.sizes = from;
  }
};

TEST(SizesAhead, GoToTheLeaderOfTheGroup) {
  for (Rank rank = 0; rank < 6; ++rank) {
    const AheadPlan plan = plan_of(rank);
    const Rank leader = rank % 2;
    EXPECT_EQ(plan.group, (std::vector<Rank>{leader, leader + 2, leader + 4}));
    std::vector<Rank> sends, receives;
    for (const ir::Op& op : plan.plan.schedule.ops) {
      if (op.code == OpCode::send) sends.push_back(op.peer);
      if (op.code == OpCode::recv) receives.push_back(op.peer);
    }
    EXPECT_EQ(sends, rank == leader ? std::vector<Rank>{} : std::vector<Rank>{leader});
    EXPECT_EQ(receives, rank == leader ? (std::vector<Rank>{leader + 2, leader + 4}) : std::vector<Rank>{});
  }
}

TEST(SizesAhead, OfMembersSayWhatPassesThroughTheLeader) {
  const AheadPlan plan = plan_of(1);
  const Alltoallv own(1);
  SizesAhead sizes;
  const Operation& gather = sizes.gather(plan, own.op);
  const executors::Binding ahead(plan.plan, gather);
  for (const std::size_t member : {3, 5}) {  // as if their messages had come
    const Alltoallv theirs(member);
    auto* row = static_cast<std::byte*>(gather.output) + gather.output_blocks.offset_of(member);
    std::memcpy(row, theirs.to, sizeof(theirs.to));
    std::memcpy(row + sizeof(theirs.to), theirs.from, sizeof(theirs.from));
  }

  const executors::Plan data_plan(passes::build(by_nodes(), {Collective::alltoall, 6, 1}, &nodes()), {});
  const Operation& data = sizes.small(plan, own.op, data_plan.schedule.scratch_planes);
  executors::Binding binding(data_plan, data);
  EXPECT_EQ(binding.extent(), sent(5, 5));
  std::size_t all = 0;
  for (std::size_t r = 0; r < 6; ++r) all += sent(3, r) + sent(5, r) + sent(r, 3) + sent(r, 5);
  EXPECT_EQ(binding.scratch_bytes(binding.extent()), all);

  std::vector<std::byte> scratch(all);
  binding.select({0, binding.extent()}, scratch.data());
  const std::byte* next = scratch.data();
  for (std::uint32_t plane = 0; plane < 6; ++plane)
    for (std::uint32_t r = 0; r < 6; ++r) {
      const std::size_t member = 1 + 2 * (plane % 3);
      const std::size_t expected = member == 1 ? 0 : plane < 3 ? sent(member, r) : sent(r, member);
      const auto piece = binding.own(ir::Buffer::scratch, plane * 6 + r);
      EXPECT_EQ(piece.bytes, expected);
      EXPECT_EQ(piece.data, next);
      next += piece.bytes;
    }
}

TEST(SizesAhead, AMemberKeepsNothingForOthers) {
  const AheadPlan plan = plan_of(3);
  const Alltoallv own(3);
  SizesAhead sizes;
  sizes.gather(plan, own.op);
  EXPECT_EQ(sizes.small(plan, own.op, 0).scratch_blocks.sizes, nullptr);
}

/// Each block goes one of both ways, and all of them see which from its size.
TEST(SizesAhead, LargeBlocksGoStraight) {
  const AheadPlan plan = plan_of(1);
  const std::size_t limit = plan.most_through_leaders;
  const std::size_t to[6] = {0, limit + 1, limit, 7, 1 << 20, 1},
                    from[6] = {limit + 1, 0, 3, limit, 2, 1 << 30};
  const std::ptrdiff_t places[6] = {5, 100, 3000, 70, 9000, 0};
  Operation op;
  op.collective = Collective::alltoall;
  op.input_blocks = {0, to, places};
  op.output_blocks = {0, from, places};
  SizesAhead sizes;
  sizes.gather(plan, op);
  const auto seen = [&](const Operation& some) {
    std::vector<std::size_t> all;
    for (std::size_t r = 0; r < 6; ++r) {
      EXPECT_EQ(some.input_blocks.offset_of(r), places[r]);
      EXPECT_EQ(some.output_blocks.offset_of(r), places[r]);
      all.push_back(some.input_blocks.size_of(r));
    }
    for (std::size_t r = 0; r < 6; ++r) all.push_back(some.output_blocks.size_of(r));
    return all;
  };
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(seen(sizes.small(plan, op, 0)), (Sizes{0, 0, limit, 7, 0, 1, 0, 0, 3, limit, 2, 0}));
  EXPECT_EQ(seen(sizes.large(plan, op)),
            (Sizes{0, limit + 1, 0, 0, 1 << 20, 0, limit + 1, 0, 0, 0, 0, 1 << 30}));
}

/// Nodes of `size`, but the last rank is on the first one.
passes::Neighbourhood nodes_of(std::size_t size, std::size_t ranks) {
  std::vector<std::uint32_t> node_of(ranks);
  for (std::size_t r = 0; r + 1 < ranks; ++r) node_of[r] = static_cast<std::uint32_t>(r / size);
  return passes::Neighbourhood({node_of});
}

/// What a leader keeps for others is bounded, and all ranks see the same bound.
TEST(SizesAhead, LessPassesThroughLeadersOfMany) {
  EXPECT_EQ(plan_of(1).most_through_leaders, 4096u);
  const auto passes_through = [](const passes::Neighbourhood& near, Rank ranks, Rank rank) {
    const ir::Request request{Collective::alltoall, ranks, rank};
    return AheadPlan(passes::build_ahead(by_nodes(), request, &near)).most_through_leaders;
  };
  const passes::Neighbourhood some = nodes_of(31, 256), large = nodes_of(255, 512);
  for (const Rank rank : {0, 40, 255}) {
    EXPECT_EQ(passes_through(some, 256, rank), 2048u) << rank;
    EXPECT_EQ(passes_through(large, 512, rank), 1024u) << rank;
  }
}

/// Only a leader knows what two others of its group say.
TEST(SizesAhead, ALeaderNoticesWhoDisagrees) {
  const AheadPlan plan = plan_of(1);
  const Alltoallv own(1);
  SizesAhead sizes;
  const Operation& gather = sizes.gather(plan, own.op);
  auto* const rows = static_cast<std::size_t*>(gather.output);
  const auto tell = [&](std::size_t member, const Alltoallv& theirs) {
    std::size_t* const row = rows + (member - 1) / 2 * 12;
    std::memcpy(row, theirs.to, sizeof(theirs.to));
    std::memcpy(row + 6, theirs.from, sizeof(theirs.from));
  };
  Alltoallv three(3), five(5);
  tell(3, three);
  tell(5, five);
  EXPECT_FALSE(sizes.disagreement(plan));
  five.from[3] += plan.most_through_leaders;
  tell(5, five);
  const auto found = sizes.disagreement(plan);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from, 3);
  EXPECT_EQ(found->to, 5);
  EXPECT_EQ(found->sent, sent(3, 5));
  EXPECT_EQ(found->expected, sent(3, 5) + plan.most_through_leaders);
  five.from[3] = sent(3, 5);
  five.to[1] = 0;  // the leader's own
  tell(5, five);
  EXPECT_TRUE(sizes.disagreement(plan));
}

}  // namespace
}  // namespace hocket::engine
