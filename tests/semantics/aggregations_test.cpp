// Aggregations: what the verifier accepts, and each fault with its own message.
#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "semantics/samples.hpp"

namespace hocket::ir {
namespace {

using Schedules = std::vector<Schedule>;

/// Ranks whose ops are given as text, all in one group.
Schedules ranks_of(const std::string& collective, const std::vector<std::string>& texts,
                   const std::string& chunks = "2") {
  Schedules all;
  const std::string count = std::to_string(texts.size());
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    std::string text = "schedule " + collective + " ranks " + count + " rank " + std::to_string(rank) +
                       " root 0 chunks " + chunks + "\nstaging [0.." + chunks +
                       ") planes 1\nscratch planes 2\ngroup 0:";
    for (std::size_t member = 0; member < texts.size(); ++member) text += " " + std::to_string(member);
    all.push_back(parse_schedule(text + "\n" + texts[rank]));
  }
  return all;
}

std::string fault(const Schedules& schedules, const Expectation& expectation = {}) {
  return verify(schedules, expectation).what;
}

void expect_fault(const Schedules& schedules, const std::string& part) {
  const std::string what = fault(schedules);
  EXPECT_NE(what.find(part), std::string::npos) << what << "\nwanted: " << part;
}

const std::string all_of_it =
    "round 0: aggregate 1 group 0 everyone: output[0..2) = input[0..2)\nround 1: settle 1 group 0\n";
const std::string begun = "round 0: aggregate 1 group 0 everyone: output[0..2) = input[0..2)\n";

TEST(Aggregations, AreAcceptedWhereverTheirRanksAre) {
  for (Rank ranks = 1; ranks <= 9; ++ranks)
    for (const bool in_place : {false, true}) {
      const auto schedules = samples::all_ranks(ranks, samples::aggregated_allreduce);
      const Verdict verdict = verify(schedules, {.in_place = in_place, .ranked = true});
      EXPECT_TRUE(verdict) << ranks << ": " << verdict.what;
    }
}

TEST(Aggregations, MayBeSettledInTheirRoundOrMuchLater) {
  const std::string at_once =
      "round 0: aggregate 1 group 0 everyone: output[0..2) = input[0..2)\nround 0: settle 1 group 0\n";
  const std::string later = begun +
                            "round 1: copy scratch[0..2) = input[0..2)\nround 2: copy scratch[2..4) = "
                            "scratch[0..2)\nround 3: settle 1 group 0";
  EXPECT_EQ(fault(ranks_of("allreduce", {at_once, later, all_of_it})), "");
}

TEST(Aggregations, OfAllKindsGiveWhatTheyOwe) {
  const std::string settle = "round 1: settle 1 group 0";
  const std::string reduces = "round 0: aggregate 1 group 0 root 0: = input[0..2)\n" + settle;
  EXPECT_EQ(
      fault(ranks_of("reduce", {"round 0: aggregate 1 group 0 root 0: output[0..2) = input[0..2)\n" + settle,
                                reduces, reduces})),
      "");
  const std::string takes = "round 0: aggregate 1 group 0 root 0: output[0..2)\n" + settle;
  EXPECT_EQ(fault(ranks_of("bcast",
                           {"round 0: aggregate 1 group 0 root 0: = input[0..2)\n" + settle, takes, takes})),
            "");
  const std::string enters = "round 0: aggregate 1 group 0 everyone\n" + settle;
  EXPECT_EQ(fault(ranks_of("barrier", {enters, enters, enters}, "0")), "");
}

TEST(Aggregations, FoldInTheOrderOfTheirGroup) {
  Schedules s = ranks_of("allreduce", {all_of_it, all_of_it});
  EXPECT_EQ(fault(s, {.ranked = true}), "");
  for (Schedule& one : s) one.groups[0] = {1, 0};
  EXPECT_EQ(fault(s), "");
  EXPECT_NE(fault(s, {.ranked = true}).find("in that order"), std::string::npos);
}

TEST(Aggregations, MatchByTheirMembersAndTheirOrder) {
  const std::string of_halves =
      "round 0: aggregate 1 group 0 everyone: output[0..1) = input[0..1)\n"
      "round 1: aggregate 2 group 0 everyone: output[1..2) = input[1..2)\n"
      "round 1: settle 1 group 0\nround 2: settle 2 group 0";
  Schedules s = ranks_of("allreduce", {of_halves, of_halves});
  s[1].groups = {{1}, {0, 1}};  // numbers of groups and steps are each rank's own
  for (Op& op : s[1].ops) {
    op.group = 1;
    op.step += 5;
  }
  EXPECT_EQ(fault(s), "");
  const std::string other_way =
      "round 0: aggregate 1 group 0 everyone: output[1..2) = input[1..2)\n"
      "round 1: aggregate 2 group 0 everyone: output[0..1) = input[0..1)\n"
      "round 1: settle 1 group 0\nround 2: settle 2 group 0";
  expect_fault(ranks_of("allreduce", {of_halves, other_way}), "chunk 1 has another size than in rank 0");
}

TEST(Aggregations, AreMissedByNobody) {
  expect_fault(
      ranks_of("allreduce", {all_of_it, ""}),
      "rank 0, round 0, op 0 (aggregate 1 group 0 everyone: output[0..2) = input[0..2)): rank 1 never "
      "starts this aggregation");
  Schedules s = ranks_of("allreduce", {all_of_it, all_of_it});
  s[1].groups[0] = {1, 0};
  expect_fault(s, "never starts this aggregation");
}

/// Rank 1 starts only when it has got what rank 0 sends when it has settled.
TEST(Aggregations, ThatWaitForEachOtherAreADeadlock) {
  const Schedules s =
      ranks_of("allreduce", {all_of_it + "round 2: send 1: output[0..2)",
                             "round 0: recv 0: output[0..2)\nround 1: aggregate 1 group 0 "
                             "everyone: output[0..2) = input[0..2)\nround 1: settle 1 group 0"});
  expect_fault(s, "deadlock; rank 0, round 1, op 1 (settle 1 group 0) never completes; rank 1, round 0");
}

TEST(Aggregations, AgreeOnRootKindAndSize) {
  const auto with = [](const std::string& op) {
    return ranks_of("allreduce",
                    {all_of_it, "round 0: aggregate 1 group 0 " + op + "\nround 1: settle 1 group 0"});
  };
  expect_fault(with("root 1: output[0..2) = input[0..2)"), "another root than in rank 0");
  expect_fault(with("everyone"), "another kind of aggregation than in rank 0");
  expect_fault(with("everyone: output[0..1) = input[0..1)"), "another number of chunks than in rank 0");
  const std::string settle = "\nround 1: settle 1 group 0";
  expect_fault(ranks_of("reduce", {"round 0: aggregate 1 group 0 root 0: output[0..2) = input[0..2)" + settle,
                                   "round 0: aggregate 1 group 0 root 0: scratch[0..2)" + settle}),
               "another kind of aggregation");
}

struct Case {
  const char* op;    ///< of rank 0, in round 0 of an allreduce with two chunks
  const char* what;  ///< in the verdict
};

TEST(Aggregations, AreRefusedWhereTheyAreMalformed) {
  const Case cases[] = {
      {"aggregate 1 group 1 everyone: output[0..2) = input[0..2)", "there is no such group"},
      {"settle 1 group 1", "there is no such group"},
      {"settle 1 group 0", "what has this step has not been started"},
      {"aggregate 1 group 0 root 2: output[0..2) = input[0..2)", "the root is not in the group"},
      {"aggregate 1 group 0 everyone: output[0..2) = input[0..1) + input[1..2)", "more than one source"},
      {"aggregate 1 group 0 everyone: output[0..2)", "or nobody does"},
      {"aggregate 1 group 0 everyone: = input[0..2)", "or nobody does"},
      {"aggregate 1 group 0 everyone: output[0..2) = input[0..1)",
       "another number of chunks than the target"},
      {"aggregate 1 group 0 everyone: output[0..1) = input[1..2)", "has another size than"},
      {"aggregate 1 group 0 everyone: input[0..2) = input[0..2)", "writes the input"},
      {"aggregate 1 group 0 everyone: output[0..2) = output@1[0..2)", "is not the rank's own"},
      {"aggregate 1 group 0 everyone: staging@1[0..2) = input[0..2)", "is not the rank's own"},
      {"aggregate 1 group 0 everyone: output[0..2) = scratch[4..6)", "outside of its window"},
      {"aggregate 1 group 0 everyone: output[0..2) = input[0..0)", "has no chunk"},
      {"aggregate 1 group 0 root 0: output[0..2)", "the root contributes nothing"},
      {"aggregate 1 group 0 root 1: output[0..2) = input[0..2)", "the others either contribute or get"},
      {"aggregate 1 group 0 root 1", "the others either contribute or get"},
  };
  for (const Case& c : cases) {
    const std::string what = fault(ranks_of("allreduce", {std::string("round 0: ") + c.op, ""}));
    EXPECT_NE(what.find(c.what), std::string::npos) << c.op << ": " << what;
    EXPECT_EQ(what.find("rank 0, round 0, op 0"), 0u) << what;
  }
}

TEST(Aggregations, AreSettledOnce) {
  expect_fault(
      ranks_of("allreduce", {all_of_it, begun}),
      "rank 1, round 0, op 0 (aggregate 1 group 0 everyone: output[0..2) = input[0..2)): is never settled");
  expect_fault(ranks_of("allreduce", {all_of_it, all_of_it + "round 2: settle 1 group 0"}),
               "rank 1, round 2, op 2 (settle 1 group 0): has been settled before");
  const std::string twice =
      "round 0: aggregate 1 group 0 everyone: output[0..1) = input[0..1)\n"
      "round 0: aggregate 1 group 0 everyone: output[1..2) = input[1..2)\n"
      "round 1: settle 1 group 0";
  expect_fault(ranks_of("allreduce", {twice, twice}), "the second of this step in its group");
}

TEST(Aggregations, HaveGroupsOfDifferentRanks) {
  const auto with = [](const std::vector<Rank>& group) {
    Schedules s = ranks_of("allreduce", {all_of_it, all_of_it});
    s[0].groups[0] = group;
    return s;
  };
  expect_fault(with({}), "rank 0, group 0: a member is not a rank");
  expect_fault(with({0, 2}), "rank 0, group 0: a member is not a rank");
  expect_fault(with({0, 1, 0}), "rank 0, group 0: a rank is in it twice");
  expect_fault(with({1}), "rank 0, group 0: the rank itself is not in it");
}

TEST(Aggregations, LeaveTargetAndSourceAloneUntilTheyAreSettled) {
  const std::string from_scratch =
      "round 0: copy scratch[0..2) = input[0..2)\n"
      "round 0: aggregate 1 group 0 everyone: output[0..2) = scratch[0..2)\n";
  const auto between = [&](const std::string& op) {
    return ranks_of("allreduce",
                    {from_scratch + "round 1: " + op + "\nround 2: settle 1 group 0", all_of_it});
  };
  EXPECT_EQ(fault(between("copy scratch[2..4) = scratch[0..2)")), "") << "the source may be read";
  expect_fault(between("copy scratch[2..4) = output[0..2)"),
               "reads output[0..1) while an aggregation writes it");
  expect_fault(between("copy output[0..2) = input[0..2)"),
               "writes output[0..1) while an aggregation writes it");
  expect_fault(between("copy scratch[0..2) = input[0..2)"),
               "writes scratch[0..1) while an aggregation reads it");
  expect_fault(
      between("aggregate 2 group 0 everyone: output[0..2) = scratch[0..2)\nround 2: settle 2 group 0"),
      "never starts");
  expect_fault(
      ranks_of("allreduce",
               {begun + "round 1: settle 1 group 0\nround 1: copy scratch[0..2) = output[0..2)", all_of_it}),
      "reads output[0..1) while an aggregation writes it");
}

TEST(Aggregations, OfNothingAreUndefined) {
  const std::string of_scratch =
      "round 0: aggregate 1 group 0 everyone: output[0..2) = scratch[0..2)\nround 1: settle 1 group 0";
  expect_fault(ranks_of("allreduce", {of_scratch, all_of_it}), "reads scratch[0..1), which is undefined");
}

/// Both stage their input, aggregate, and read what the other has staged.
std::string races_with(const std::string& op0, const std::string& op1) {
  const auto rank = [](const std::string& op, const std::string& folded) {
    return "round 0: copy staging[0..1) = input[0..1)\nround 0: aggregate 1 group 0 " + op +
           "\nround 1: settle 1 group 0\nround 2: reduce output[0..1) = " + folded;
  };
  return fault(ranks_of(
      "allreduce", {rank(op0, "input[0..1) + staging@1[0..1)"), rank(op1, "staging@0[0..1) + input[0..1)")},
      "1"));
}

TEST(Aggregations, TellOfThoseWhoseDataTheyBring) {
  const std::string both = "everyone: scratch[0..1) = input[0..1)",
                    one = "root 0: scratch[0..1) = input[0..1)";
  EXPECT_EQ(races_with(both, both), "");
  EXPECT_EQ(races_with("everyone", "everyone"), "");
  EXPECT_EQ(races_with(one, "root 0: = input[0..1)").find("rank 1, round 2"), 0u) << "a reduction at rank 0";
  EXPECT_EQ(races_with("root 0: = input[0..1)", "root 0: scratch[0..1)").find("rank 0, round 2"), 0u)
      << "a broadcast from rank 0";
}

}  // namespace
}  // namespace hocket::ir
