// Does the verifier accept what is right, and find what is wrong? Faults are planted in schedules known to be
// right.
#include "ir/verify.hpp"

#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "semantics/samples.hpp"

namespace hocket::ir {
namespace {

using Schedules = std::vector<Schedule>;

Schedules ring(Rank ranks) {
  return samples::all_ranks(ranks, samples::ring_allreduce);
}
Schedules flat(Rank ranks) {
  return samples::all_ranks(ranks, samples::flat_allreduce);
}
Schedules exposed(Rank ranks) {
  return samples::all_ranks(ranks, samples::exposed_bcast);
}

void expect_fault(const Schedules& schedules, const std::string& part, const Expectation& expectation = {}) {
  const Verdict verdict = verify(schedules, expectation);
  EXPECT_FALSE(verdict.ok) << "wanted: " << part;
  EXPECT_NE(verdict.what.find(part), std::string::npos) << verdict.what << "\nwanted: " << part;
}

Schedule parsed(const std::string& header, const std::string& ops) {
  return parse_schedule(header + "\n" + ops);
}

/// Two ranks whose ops are given as text; `shape` follows "rank N " in the header.
Schedules pair(const std::string& collective, const std::string& shape, const std::string& ops0,
               const std::string& ops1) {
  const auto header = [&](int rank) {
    return "schedule " + collective + " ranks 2 rank " + std::to_string(rank) + " root 0 " + shape;
  };
  return {parsed(header(0), ops0), parsed(header(1), ops1)};
}

void drop_op(Schedule& s, std::uint32_t op) {
  s.ops.erase(s.ops.begin() + op);
  for (auto& end : s.rounds) end -= end > op;
  std::erase(s.rounds, 0u);
  s.rounds.erase(std::unique(s.rounds.begin(), s.rounds.end()), s.rounds.end());
}

TEST(Verify, AcceptsTheSamples) {
  for (Rank ranks = 1; ranks <= 17; ++ranks)
    for (const bool in_place : {false, true}) {
      const Verdict r = verify(ring(ranks), {.in_place = in_place});
      EXPECT_TRUE(r) << ranks << ": " << r.what;
      const Verdict f = verify(flat(ranks), {.in_place = in_place, .ranked = true});
      EXPECT_TRUE(f) << ranks << ": " << f.what;
      const Verdict e = verify(exposed(ranks), {.in_place = in_place});
      EXPECT_TRUE(e) << ranks << ": " << e.what;
      const Verdict b =
          verify(ranks, [&](Rank r) { return samples::binomial_bcast(ranks, r); }, {.in_place = in_place});
      EXPECT_TRUE(b) << ranks << ": " << b.what;
    }
}

TEST(Verify, KnowsWhatItHasProved) {
  const Verdict v = verify(ring(4));
  EXPECT_EQ(v.messages, 4u * 6u);
  EXPECT_EQ(v.expressions, 4u * 3u);
}

TEST(Verify, SeesThatTheRingChangesTheOrder) {
  expect_fault(ring(4), "in that order", {.ranked = true});
}

TEST(Verify, SeesReorderedOperands) {
  Schedules s = flat(4);
  std::swap(s[2].regions[1], s[2].regions[2]);
  expect_fault(s, "the results differ in their last bits");
  for (auto& one : s)
    std::swap(one.regions[one.ops.back().first_region], one.regions[one.ops.back().first_region + 3]);
  expect_fault(s, "in that order", {.ranked = true});
}

TEST(Verify, SeesADoubleContribution) {
  Schedules s = flat(4);
  for (auto& one : s)
    one.regions[one.ops.back().first_region + 3] = one.regions[one.ops.back().first_region + 2];
  s[3].regions[s[3].ops.back().first_region + 2].owner = 1;
  expect_fault(s, "once each");
}

TEST(Verify, SeesADroppedSignal) {
  Schedules s = flat(4);
  drop_op(s[1], 1);
  expect_fault(s, "deadlock; rank 0, round 0, op 2 (wait everyone step 1) never completes");
}

TEST(Verify, SeesADroppedWait) {
  Schedules s = flat(4);
  drop_op(s[1], 2);
  expect_fault(s, "rank 1, round 0, op 2");
}

TEST(Verify, SeesARaceWithTheOwnersWrite) {
  // Rank 1 overwrites what rank 0 may still be reading.
  Schedules s = pair("bcast", "chunks 1\nstaging [0..1) planes 1",
                     "round 0: copy staging[0..1) = input[0..1)\nround 0: signal 1\n"
                     "round 1: copy staging[0..1) = input[0..1)",
                     "round 0: wait 0 step 1\nround 0: read output[0..1) = staging@0[0..1)");
  expect_fault(s, "race");
}

TEST(Verify, SeesStepsThatDoNotAscend) {
  Schedules s = flat(2);
  s[0].ops[1].step = 2;
  expect_fault(s, "steps must be 1, 2, 3");
}

TEST(Verify, SeesMessagesWithoutOtherHalf) {
  Schedules s = ring(4);
  s[1].ops[0].peer = 3;  // now every later message of rank 1 meets the recv of the one before
  expect_fault(s, "rank 1, round 1, op 3 (send 2: output[0..1)): sends chunk 0 where rank 2");
  const std::string recv = "round 0: recv 0: output[0..1)";
  expect_fault(pair("bcast", "chunks 1", "", recv),
               "rank 1, round 0, op 0 (recv 0: output[0..1)): nobody sends");
  const std::string send = "round 0: send 1: input[0..1)";
  expect_fault(pair("bcast", "chunks 1", send, ""),
               "rank 0, round 0, op 0 (send 1: input[0..1)): nobody receives");
}

TEST(Verify, SeesADeadlockOfSynchronousSends) {
  const std::string send_first[] = {
      "round 0: send 1: input[0..1)\nround 1: recv 1: scratch[0..1)\n"
      "round 2: reduce output[0..1) = input[0..1) + scratch[0..1)",
      "round 0: send 0: input[0..1)\nround 1: recv 0: scratch[0..1)\n"
      "round 2: reduce output[0..1) = scratch[0..1) + input[0..1)"};
  expect_fault(pair("allreduce", "chunks 1\nscratch planes 1", send_first[0], send_first[1]),
               "deadlock; rank 0, round 0, op 0 (send 1: input[0..1)) never completes; rank 1");
}

/// Each holds its message until that of the other has come; or for more messages than there are.
TEST(Verify, SeesADeadlockOfHeldSends) {
  for (const std::string held : {"1", "2"}) {
    const std::string hold = " after " + held + ": input[";
    const Schedules s = pair("alltoall", "chunks 2",
                             "round 0: copy output[0..1) = input[0..1)\nround 0: recv 1: output[1..2)\n"
                             "round 0: send 1" +
                                 hold + "1..2)",
                             "round 0: copy output[1..2) = input[1..2)\nround 0: recv 0: output[0..1)\n"
                             "round 0: send 0" +
                                 (held == "2" ? std::string(": input[") : hold) + "0..1)");
    expect_fault(s, held == "2"
                        ? "deadlock; rank 0, round 0, op 2 (send 1 after 2: input[1..2)) never completes"
                        : "deadlock; rank 0, round 0, op 1 (recv 1: output[1..2)) never completes");
  }
}

TEST(Verify, AcceptsASendThatIsHeldUntilItsRecvHasEnded) {
  const Verdict verdict =
      verify(pair("alltoall", "chunks 2",
                  "round 0: copy output[0..1) = input[0..1)\nround 0: send 1 after 1: input[1..2)\n"
                  "round 0: recv 1: output[1..2)",
                  "round 0: copy output[1..2) = input[1..2)\nround 0: recv 0: output[0..1)\n"
                  "round 0: send 0: input[0..1)"),
             {});
  EXPECT_TRUE(verdict) << verdict.what;
}

TEST(Verify, SeesAWaitThatNeedsATransferOfItsOwnRound) {
  // An executor may start the send at the end of the round, which the wait never lets it reach.
  const Schedules s = pair("bcast", "chunks 1", "round 0: send 1: input[0..1)\nround 0: wait 1 step 1",
                           "round 0: recv 0: output[0..1)\nround 1: signal 1");
  expect_fault(s, "deadlock; rank 0, round 0, op 1 (wait 1 step 1)");
}

TEST(Verify, SeesHazardsInARound) {
  expect_fault(pair("bcast", "chunks 1\nscratch planes 1",
                    "round 0: copy scratch[0..1) = input[0..1)\nround 0: send 1: scratch[0..1)\n"
                    "round 0: copy scratch[0..1) = input[0..1)",
                    "round 0: recv 0: output[0..1)"),
               "while a send of the same round reads it");
  expect_fault(pair("bcast", "chunks 1\nscratch planes 1", "round 0: send 1: input[0..1)",
                    "round 0: recv 0: output[0..1)\nround 0: copy scratch[0..1) = output[0..1)"),
               "while a recv of the same round writes it");
}

TEST(Verify, SeesUndefinedValuesAndWindows) {
  expect_fault(pair("bcast", "chunks 1\nscratch planes 1", "round 0: send 1: scratch[0..1)",
                    "round 0: recv 0: output[0..1)"),
               "scratch[0..1), which is undefined");
  expect_fault(pair("bcast", "chunks 1", "round 0: send 1: input[1..2)", "round 0: recv 0: output[0..1)"),
               "input[1..2) is outside of its window");
  expect_fault(pair("bcast", "chunks 1", "round 0: send 1: input[0..1)", "round 0: recv 0: input[0..1)"),
               "writes the input");
}

TEST(Verify, SeesChunksOfDifferentSizes) {
  const Schedules swapped =
      pair("bcast", "chunks 2", "round 0: send 1: input[1..2), input[0..1)", "round 0: recv 0: output[0..2)");
  expect_fault(swapped, "another size");
  const Schedules alltoall = pair(
      "alltoall", "chunks 2",
      "round 0: copy output[0..1) = input[0..1)\nround 0: send 1: input[0..1)\nround 0: recv 1: output[1..2)",
      "round 0: copy output[1..2) = input[1..2)\nround 0: send 0: input[0..1)\nround 0: recv 0: "
      "output[0..1)");
  expect_fault(alltoall, "another size", {.sizes = Sizes::known});
  expect_fault(alltoall, "it should be 0:1", {.sizes = Sizes::equal});
}

TEST(Verify, SeesSizesThatARankCannotKnow) {
  const Schedules relayed = {
      parsed("schedule gather ranks 3 rank 0 root 0 chunks 3",
             "round 0: copy output[0..1) = input[0..1)\nround 0: recv 1: output[1..3)"),
      parsed("schedule gather ranks 3 rank 1 root 0 chunks 3\nscratch planes 1",
             "round 0: recv 2: scratch[2..3)\nround 1: send 0: input[1..2), scratch[2..3)"),
      parsed("schedule gather ranks 3 rank 2 root 0 chunks 3", "round 0: send 1: input[2..3)")};
  EXPECT_TRUE(verify(relayed, {.sizes = Sizes::known})) << verify(relayed, {.sizes = Sizes::known}).what;
  expect_fault(relayed, "does not know the size of scratch[2..3)", {.sizes = Sizes::own});
}

TEST(Verify, SeesExposureFaults) {
  Schedules s = exposed(3);
  drop_op(s[0], 2);
  expect_fault(s, "rank 0 may have ended");
  s = exposed(3);
  drop_op(s[0], 0);
  expect_fault(s, "does not know to be exposed");
  s = exposed(3);
  drop_op(s[2], 0);
  expect_fault(s, "does not know to be exposed");
}

TEST(Verify, SeesABarrierThatDoesNotHold) {
  const auto lonely =
      pair("barrier", "chunks 0", "round 0: signal 1", "round 0: signal 1\nround 0: wait 0 step 1");
  expect_fault(lonely, "rank 0 may leave the barrier before rank 1 has entered");
  EXPECT_TRUE(verify(pair("barrier", "chunks 0", "round 0: signal 1\nround 0: wait 1 step 1",
                          "round 0: signal 1\nround 0: wait 0 step 1")));
}

TEST(Verify, SeesInPlaceOverwriting) {
  // Right with two buffers; in place the first copy destroys what the send needs.
  const Schedules s = pair(
      "alltoall", "chunks 2\nscratch planes 1",
      "round 0: recv 1: output[1..2)\nround 1: copy output[0..1) = input[0..1)\nround 1: send 1: input[1..2)",
      "round 0: send 0: input[0..1)\nround 1: copy output[1..2) = input[1..2)\nround 1: recv 0: "
      "output[0..1)");
  EXPECT_TRUE(verify(s)) << verify(s).what;
  expect_fault(s, "it should be 0:1", {.in_place = true});
}

TEST(Verify, SeesShiftedOverlap) {
  expect_fault(
      pair("allreduce", "chunks 3",
           "round 0: copy output[0..3) = input[0..3)\nround 0: copy output[0..2) = output[1..3)", ""),
      "another size");
}

}  // namespace
}  // namespace hocket::ir
