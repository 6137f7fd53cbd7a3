// Segmenting keeps the meaning of every schedule that it accepts, and costs what it says.
#include "passes/segment.hpp"

#include <gtest/gtest.h>

#include <set>

#include "algorithms/catalog.hpp"
#include "base/error.hpp"
#include "ir/count.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "passes/align.hpp"
#include "semantics/samples.hpp"

namespace hocket::passes {
namespace {

using algorithms::Algorithm;
using ir::Collective;
using ir::Rank;
using ir::Request;
using ir::Schedule;

std::vector<Schedule> segmented(const std::vector<Schedule>& whole, Segmentation by) {
  std::vector<Schedule> cut;
  for (const Schedule& s : whole) cut.push_back(segment(s, by));
  return cut;
}

std::vector<Schedule> segmented_on_one_clock(const std::vector<Schedule>& whole, Segmentation by) {
  const auto times = align(whole);
  std::vector<Schedule> cut;
  for (std::size_t rank = 0; rank < whole.size(); ++rank)
    cut.push_back(segment_aligned(whole[rank], times[rank], by));
  return cut;
}

/// A rank that communicates in R rounds does so in R + segments - 1 afterwards; all else is in proportion.
void expect_cost(const Schedule& whole, const Schedule& cut, std::uint32_t segments) {
  const ir::Counters before = ir::count(whole), after = ir::count(cut);
  EXPECT_EQ(cut.rounds.size(), whole.rounds.empty() ? 0 : whole.rounds.size() + segments - 1);
  EXPECT_EQ(after.messages, before.messages * segments);
  EXPECT_EQ(after.sent, before.sent * segments);
  EXPECT_EQ(after.received, before.received * segments);
  EXPECT_EQ(after.reduced, before.reduced * segments);
  EXPECT_EQ(after.copied, before.copied * segments);
}

void expect_same_meaning(const std::vector<Schedule>& whole, const ir::Expectation& expectation) {
  ASSERT_TRUE(ir::verify(whole, expectation)) << ir::verify(whole, expectation).what;
  for (const std::uint32_t segments : {1, 2, 3, 16}) {
    const auto cut = segmented(whole, {segments});
    const ir::Verdict verdict = ir::verify(cut, expectation);
    EXPECT_TRUE(verdict) << segments << " segments: " << verdict.what;
    for (std::size_t r = 0; r < whole.size(); ++r) expect_cost(whole[r], cut[r], segments);
  }
  const ir::Verdict apart = ir::verify(segmented(whole, {3, 2}), expectation);
  EXPECT_TRUE(apart) << "2 apart: " << apart.what;
}

TEST(Segment, ShiftsSegmentsByOneRound) {
  EXPECT_EQ(ir::to_text(segment(samples::binomial_bcast(4, 2), {2})),
            "schedule bcast ranks 4 rank 2 root 0 chunks 2\n"
            "round 0: recv 0: output[0..1)\n"
            "round 1: send 3: output[0..1)\n"
            "round 1: recv 0: output[1..2)\n"
            "round 2: send 3: output[1..2)\n");
}

/// Rounds in which no segment has anything to do are left out.
TEST(Segment, ShiftsSegmentsByAsManyRoundsAsAsked) {
  EXPECT_EQ(ir::to_text(segment(samples::binomial_bcast(4, 2), {3, 2})),
            "schedule bcast ranks 4 rank 2 root 0 chunks 3\n"
            "round 0: recv 0: output[0..1)\n"
            "round 1: send 3: output[0..1)\n"
            "round 2: recv 0: output[1..2)\n"
            "round 3: send 3: output[1..2)\n"
            "round 4: recv 0: output[2..3)\n"
            "round 5: send 3: output[2..3)\n");
  const auto ring = samples::all_ranks(4, samples::ring_allreduce);
  for (const std::uint32_t apart : {1U, 2U, 3U, 7U, 50U}) {
    const auto cut = segmented_on_one_clock(ring, {3, apart});
    EXPECT_TRUE(ir::verify(cut)) << apart << " apart: " << ir::verify(cut).what;
    const auto rounds = static_cast<std::uint32_t>(ring[0].rounds.size());
    EXPECT_EQ(cut[0].rounds.size(), apart < rounds ? rounds + 2 * apart : 3 * rounds) << apart;
  }
}

TEST(Segment, KeepsTheMeaningOfABinomialTree) {
  for (Rank ranks = 1; ranks <= 17; ++ranks)
    for (const bool in_place : {false, true})
      expect_same_meaning(samples::all_ranks(ranks, samples::binomial_bcast), {.in_place = in_place});
}

std::set<ir::Parameters> parameters(const Algorithm& row) {
  std::set<ir::Parameters> all{algorithms::presets(row)};
  if (row.parameters.empty()) return all;
  for (const std::int32_t value : {row.parameters[0].least, 3, 4, 8})
    if (value >= row.parameters[0].least && value <= row.parameters[0].most) {
      ir::Parameters some = algorithms::presets(row);
      some[0] = value;
      all.insert(some);
    }
  return all;
}

std::vector<Schedule> all_ranks(const Algorithm& row, const Request& request) {
  std::vector<Schedule> all;
  for (Rank r = 0; r < request.ranks; ++r) all.push_back(algorithms::build(row, request.seen_by(r)));
  return all;
}

TEST(Segment, KeepsTheMeaningOfEveryTreeInTheCatalog) {
  std::set<std::string> names;
  for (const Algorithm& row : algorithms::catalog())
    for (const Rank ranks : {2, 3, 4, 7, 8, 13, 32})
      for (const Rank root : std::set<Rank>{0, ir::is_rooted(row.collective) ? ranks - 1 : 0})
        for (const ir::Parameters& some : parameters(row)) {
          const Request request{row.collective, ranks, 0, root, true, some};
          if (!algorithms::fits(row, request)) continue;
          const auto whole = all_ranks(row, request);
          if (!can_segment(whole)) continue;
          SCOPED_TRACE(std::string(name_of(row.collective)) + ":" + std::string(row.name) + " ranks " +
                       std::to_string(ranks));
          if (ranks == 32) names.insert(std::string(name_of(row.collective)) + ":" + std::string(row.name));
          expect_same_meaning(whole, {.in_place = row.in_place});
        }
  for (const char* name : {"bcast:knomial", "bcast:chain", "reduce:knomial"})
    EXPECT_TRUE(names.contains(name)) << name;
}

/// The next one starts in the round that settles the one before.
TEST(Segment, HasAggregationsOfItsOwn) {
  const auto whole = samples::all_ranks(4, samples::aggregated_allreduce);
  EXPECT_FALSE(can_segment(whole)) << "an aggregation joins more than two";
  EXPECT_TRUE(can_segment_aligned(whole));
  EXPECT_THROW(segment(whole[0], {2}), Error);
  const auto cut = segmented_on_one_clock(whole, {2});
  EXPECT_EQ(ir::to_text(cut[2]),
            "schedule allreduce ranks 4 rank 2 root 0 chunks 2\n"
            "scratch planes 1\n"
            "group 0: 0 2\n"
            "round 0: recv 3: scratch[0..1)\n"
            "round 1: reduce output[0..1) = input[0..1) + scratch[0..1)\n"
            "round 1: aggregate 2 group 0 everyone: output[0..1) = output[0..1)\n"
            "round 1: recv 3: scratch[1..2)\n"
            "round 2: settle 2 group 0\n"
            "round 2: reduce output[1..2) = input[1..2) + scratch[1..2)\n"
            "round 2: aggregate 3 group 0 everyone: output[1..2) = output[1..2)\n"
            "round 3: send 3: output[0..1)\n"
            "round 3: settle 3 group 0\n"
            "round 4: send 3: output[1..2)\n");
  EXPECT_TRUE(ir::verify(cut, {.ranked = true})) << ir::verify(cut).what;
}

/// Chunks that are side by side in the whole are so in every segment.
TEST(Segment, KeepsChunksTogether) {
  const auto whole = samples::all_ranks(2, [](Rank ranks, Rank rank) {
    Schedule s = samples::shape(Collective::allreduce, ranks, rank, 2);
    ir::Builder b(s);
    const std::vector<Rank> all = {0, 1};
    const ir::Region mine = ir::input(0, 2);
    b.settle(0, b.aggregate(b.group(all), ir::everyone, ir::output(0, 2), std::span(&mine, 1)));
    b.finish();
    return s;
  });
  EXPECT_TRUE(ir::verify(whole)) << ir::verify(whole).what;
  const auto cut = segmented_on_one_clock(whole, {2});
  EXPECT_EQ(ir::to_text(cut[1]),
            "schedule allreduce ranks 2 rank 1 root 0 chunks 4\n"
            "group 0: 0 1\n"
            "round 0: aggregate 2 group 0 everyone: output[0..2) = input[0..2)\n"
            "round 0: settle 2 group 0\n"
            "round 1: aggregate 3 group 0 everyone: output[2..4) = input[2..4)\n"
            "round 1: settle 3 group 0\n");
  EXPECT_TRUE(ir::verify(cut)) << ir::verify(cut).what;
}

/// Members come to an aggregation after different numbers of rounds.
TEST(Align, GivesAnAggregationOneTime) {
  const auto whole = samples::all_ranks(5, samples::aggregated_allreduce);
  const auto times = align(whole);
  EXPECT_EQ(times[0], (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(times[4], (std::vector<std::uint32_t>{1, 2})) << "alone: no pair to fold first";
  auto alone = whole;
  alone[4] = samples::shape(Collective::allreduce, 5, 4, 1);
  EXPECT_THROW(align(alone), Error);
}

TEST(Segment, RefusesWhatItWouldBreak) {
  EXPECT_THROW(segment(samples::flat_allreduce(4, 1), {2}), Error);
  EXPECT_THROW(segment(samples::ring_allreduce(4, 1), {2}), Error);
  EXPECT_THROW(segment(samples::shape(Collective::allgather, 4, 1, 4), {2}), Error);
  EXPECT_THROW(segment(samples::binomial_bcast(4, 1), {0}), Error);
  EXPECT_THROW(segment(samples::binomial_bcast(4, 1), {2, 0}), Error);
  EXPECT_FALSE(can_segment(samples::all_ranks(4, samples::ring_allreduce)));
  EXPECT_FALSE(can_segment(samples::all_ranks(4, samples::flat_allreduce)));
  EXPECT_TRUE(can_segment(samples::all_ranks(4, samples::binomial_bcast)));
}

}  // namespace
}  // namespace hocket::passes
