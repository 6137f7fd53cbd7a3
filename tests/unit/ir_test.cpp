// Builder, windows, counters, text form and interpreter of the IR.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/error.hpp"
#include "ir/count.hpp"
#include "ir/interpret.hpp"
#include "ir/text.hpp"
#include "semantics/samples.hpp"

namespace hocket::ir {
namespace {

TEST(Builder, LeavesOutWhatDoesNothing) {
  Schedule s = samples::shape(Collective::allreduce, 4, 1, 2);
  Builder b(s);
  b.copy(output(0), output(0));
  b.copy(output(0, 0), input(0, 0));
  b.round();
  b.round();
  b.finish();
  EXPECT_TRUE(s.ops.empty());
  EXPECT_TRUE(s.rounds.empty());
}

TEST(Builder, TurnsRemoteCopiesIntoReadsAndItselfIntoSelf) {
  Schedule s = samples::shape(Collective::allreduce, 4, 1, 2);
  Builder b(s);
  b.copy(output(0), of(2, staging(0)));
  b.copy(output(0), of(1, staging(0)));
  b.reduce(output(0), {of(1, staging(0))});
  b.finish();
  ASSERT_EQ(s.ops.size(), 3u);
  EXPECT_EQ(s.ops[0].code, OpCode::read);
  EXPECT_EQ(s.ops[1].code, OpCode::copy);
  EXPECT_EQ(s.ops[2].code, OpCode::copy);
  EXPECT_EQ(s.regions[1].owner, self);
  EXPECT_THROW(b.reduce(output(0), std::initializer_list<Region>{}), Error);
}

TEST(Builder, NumbersGroupsAndAggregations) {
  Schedule s = samples::shape(Collective::allreduce, 4, 1, 2);
  Builder b(s);
  const std::vector<Rank> some = {3, 1}, all = {0, 1, 2, 3};
  EXPECT_EQ(b.group(some), 0u);
  EXPECT_EQ(b.group(all), 1u);
  EXPECT_EQ(b.group(some), 0u);
  const Region mine = input(0);
  EXPECT_EQ(b.aggregate(0, everyone, output(0), std::span(&mine, 1)), 1u);
  EXPECT_EQ(b.aggregate(1, 2, output(0, 0), std::span(&mine, 1)), 2u);
  EXPECT_EQ(s.ops[1].target, unwanted);
}

TEST(KindOf, FollowsFromWhoContributesAndWhoWants) {
  const auto kind = [](Rank rank, Rank root, bool contributes, bool wants) {
    Schedule s = samples::shape(Collective::allreduce, 4, rank, 1);
    const Region mine = input(0);
    Builder(s).aggregate(0, root, wants ? output(0) : unwanted, std::span(&mine, contributes ? 1 : 0));
    return kind_of(s, s.ops[0]);
  };
  EXPECT_EQ(kind(1, everyone, true, true), Collective::allreduce);
  EXPECT_EQ(kind(1, everyone, false, false), Collective::barrier);
  EXPECT_EQ(kind(1, 1, true, true), Collective::reduce);
  EXPECT_EQ(kind(2, 1, true, false), Collective::reduce);
  EXPECT_EQ(kind(1, 1, true, false), Collective::bcast);
  EXPECT_EQ(kind(2, 1, false, true), Collective::bcast);
}

TEST(Windows, FollowTheCollective) {
  EXPECT_EQ(input_window(Collective::allgather, 5, 3, 0, 5), (Window{3, 1, 1}));
  EXPECT_EQ(output_window(Collective::allgather, 5, 3, 0, 5), (Window{0, 5, 1}));
  EXPECT_EQ(output_window(Collective::gather, 5, 3, 0, 5).count, 0u);
  EXPECT_EQ(input_window(Collective::scatter, 5, 0, 0, 5).count, 5u);
  EXPECT_EQ(output_window(Collective::reduce_scatter, 5, 2, 0, 5), (Window{2, 1, 1}));
  EXPECT_EQ(output_window(Collective::exscan, 5, 0, 0, 5).count, 0u);
  EXPECT_EQ(input_window(Collective::bcast, 5, 1, 0, 3).count, 0u);
  EXPECT_EQ(output_window(Collective::barrier, 5, 1, 0, 0).count, 0u);
}

TEST(Count, CountsTheRing) {
  const Counters c = count(samples::ring_allreduce(5, 2));
  EXPECT_EQ(c.rounds, 8u);
  EXPECT_EQ(c.messages, 8u);
  EXPECT_EQ(c.sent, 8u);
  EXPECT_EQ(c.received, 8u);
  EXPECT_EQ(c.reduced, 4u);
  EXPECT_EQ(c.copied, 0u);
}

TEST(Count, WeighsChunksInBytes) {
  const Counters c = count(samples::flat_allreduce(4, 1), [](std::uint32_t) { return 100; });
  EXPECT_EQ(c.rounds, 1u);
  EXPECT_EQ(c.received, 300u);
  EXPECT_EQ(c.reduced, 300u);
  EXPECT_EQ(c.copied, 100u);
  EXPECT_EQ(c.signals, 1u);
  EXPECT_EQ(c.waits, 1u);
}

TEST(Count, CountsAnAggregationWhereItIsSettled) {
  const Counters c = count(samples::aggregated_allreduce(5, 4));
  EXPECT_EQ(c.rounds, 1u);
  EXPECT_EQ(c.messages, 0u);
  EXPECT_EQ(c.sent, 1u);
  EXPECT_EQ(c.received, 1u);
}

TEST(Text, IsReadable) {
  EXPECT_EQ(to_text(samples::flat_allreduce(3, 1)),
            "schedule allreduce ranks 3 rank 1 root 0 chunks 1\n"
            "staging [0..1) planes 1\n"
            "round 0: copy staging[0..1) = input[0..1)\n"
            "round 0: signal 1\n"
            "round 0: wait everyone step 1\n"
            "round 0: reduce output[0..1) = staging@0[0..1) + input[0..1) + staging@2[0..1)\n");
}

TEST(Text, SaysWhoAggregatesWhat) {
  EXPECT_EQ(to_text(samples::aggregated_allreduce(4, 2)),
            "schedule allreduce ranks 4 rank 2 root 0 chunks 1\n"
            "scratch planes 1\n"
            "group 0: 0 2\n"
            "round 0: recv 3: scratch[0..1)\n"
            "round 1: reduce output[0..1) = input[0..1) + scratch[0..1)\n"
            "round 1: aggregate 1 group 0 everyone: output[0..1) = output[0..1)\n"
            "round 2: settle 1 group 0\n"
            "round 3: send 3: output[0..1)\n");
  const std::string others =
      "schedule bcast ranks 4 rank 2 root 0 chunks 2\n"
      "group 0: 0 2\n"
      "group 1: 3 2 1\n"
      "round 0: aggregate 1 group 0 everyone\n"
      "round 0: aggregate 2 group 0 root 0: output[0..2)\n"
      "round 0: aggregate 1 group 1 root 2: = output[0..1)\n"
      "round 1: settle 2 group 0\n";
  EXPECT_EQ(to_text(parse_schedule(others)), others);
}

TEST(Text, SaysWhatIsHeld) {
  const std::string one =
      "schedule alltoall ranks 2 rank 0 root 0 chunks 2\n"
      "round 0: recv 1: output[1..2)\n"
      "round 0: send 1 after 1: input[1..2)\n";
  const Schedule s = parse_schedule(one);
  EXPECT_EQ(s.ops[1].held, 1u);
  EXPECT_EQ(to_text(s), one);
}

TEST(Text, ReadsWhatItWrote) {
  for (Rank r = 0; r < 5; ++r)
    for (const Schedule& s :
         {samples::ring_allreduce(5, r), samples::flat_allreduce(5, r), samples::exposed_bcast(5, r),
          samples::binomial_bcast(5, r), samples::shape(Collective::barrier, 5, r, 0),
          samples::aggregated_allreduce(5, r)})
      EXPECT_EQ(parse_schedule(to_text(s)), s) << to_text(s);
}

std::string error_of(const std::string& text) {
  try {
    parse_schedule(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Text, SaysWhereItIsWrong) {
  const std::string header = "schedule bcast ranks 2 rank 0 root 0 chunks 1\n";
  EXPECT_NE(error_of("").find("there is no schedule"), std::string::npos);
  EXPECT_NE(error_of("round 0: signal 1").find("line 1, column 6"), std::string::npos);
  EXPECT_NE(error_of(header + "\nround 0: sing 1").find("line 3, column 14: \"sing\" is no op"),
            std::string::npos);
  EXPECT_NE(error_of(header + "round 1: signal 1").find("rounds must ascend"), std::string::npos);
  EXPECT_NE(error_of(header + "round 0: copy output[0..1) = inptu[0..1)").find("inptu"), std::string::npos);
  EXPECT_NE(error_of(header + "round 0: copy output[3..1) = input[0..1)").find("ends before"),
            std::string::npos);
  EXPECT_NE(error_of(header + "round 0: signal -1").find("number"), std::string::npos);
  EXPECT_NE(error_of(header + "round 0: signal 99999999999").find("number"), std::string::npos);
  EXPECT_NE(error_of(header + header).find("second"), std::string::npos);
  EXPECT_NE(error_of(header + "group 1: 0").find("groups must ascend"), std::string::npos);
  EXPECT_NE(error_of(header + "round 0: aggregate 1 group 0").find("\"root\" is missing"), std::string::npos);
  EXPECT_NE(error_of(header + "round 0: settle 1").find("\"group\" is missing"), std::string::npos);
  EXPECT_EQ(error_of(header + "# a comment\nround 0: signal 1 # another"), "");
}

TEST(Text, SurvivesDamagedInput) {
  const auto seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::string good[] = {to_text(samples::ring_allreduce(3, 1)), to_text(samples::exposed_bcast(3, 1)),
                              to_text(samples::aggregated_allreduce(3, 0))};
  int errors = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = good[random() % 3] + (random() % 8 == 0 ? good[1] : "");
    for (auto n = random() % 4; n > 0; --n) {
      const std::size_t at = random() % text.size();
      if (random() % 2)
        text[at] = static_cast<char>(random() % 128);
      else
        text.erase(at, random() % 9);
    }
    try {
      const Schedule s = parse_schedule(text);
      EXPECT_EQ(parse_schedule(to_text(s)), s) << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("column"), std::string::npos);
      ++errors;
    }
  }
  EXPECT_GT(errors, 100);
}

void add_ints(std::span<std::byte> left, std::span<const std::byte> right) {
  for (std::size_t i = 0; i + sizeof(int) <= left.size(); i += sizeof(int)) {
    int a, b;
    std::memcpy(&a, &left[i], sizeof a);
    std::memcpy(&b, &right[i], sizeof b);
    a += b;
    std::memcpy(&left[i], &a, sizeof a);
  }
}

void expect_sums(const std::vector<Schedule>& schedules, const std::vector<std::size_t>& sizes) {
  constexpr Rank ranks = 5;
  for (const bool in_place : {false, true}) {
    std::vector<std::vector<int>> in(ranks), out(ranks, std::vector<int>(5));
    std::vector<UserBuffers> buffers(ranks);
    for (Rank r = 0; r < ranks; ++r) {
      in[r] = {r, 10 * r, 100 * r, 1000 * r, 7};
      const auto input = cut(std::as_writable_bytes(std::span(in[r])), sizes);
      buffers[r].input.assign(input.begin(), input.end());
      buffers[r].output = in_place ? input : cut(std::as_writable_bytes(std::span(out[r])), sizes);
    }
    interpret(schedules, buffers, add_ints);
    for (Rank r = 0; r < ranks; ++r)
      EXPECT_EQ(in_place ? in[r] : out[r], (std::vector<int>{10, 100, 1000, 10000, 35})) << "rank " << r;
  }
}

TEST(Interpret, AddsUpInPlaceAndNot) {
  expect_sums(samples::all_ranks(5, samples::ring_allreduce), {8, 4, 4, 0, 4});  // 5 ints in 5 chunks
}

TEST(Interpret, AddsUpInTheNetwork) {
  expect_sums(samples::all_ranks(5, samples::aggregated_allreduce), {20});
}

}  // namespace
}  // namespace hocket::ir
