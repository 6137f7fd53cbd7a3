// Malformed schedules are refused with a sentence that says where, before anything is executed. One line of
// text per fault.
#include <gtest/gtest.h>

#include "ir/builder.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"

namespace hocket::ir {
namespace {

using Schedules = std::vector<Schedule>;

/// Two ranks of a collective; rank 0 runs the ops given as text.
Schedules pair(const std::string& collective, const std::string& chunks, const std::string& ops0,
               const std::string& ops1 = "") {
  const std::string memory = chunks == "0" ? "" : "\nstaging [0.." + chunks + ") planes 1\nscratch planes 1";
  const auto schedule = [&](const std::string& rank, const std::string& ops) {
    return parse_schedule("schedule " + collective + " ranks 2 rank " + rank + " root 0 chunks " + chunks +
                          memory + "\n" + ops);
  };
  return {schedule("0", ops0), schedule("1", ops1)};
}

std::string fault(const Schedules& schedules, Sizes sizes = Sizes::known) {
  return verify(schedules, {.sizes = sizes}).what;
}

struct Case {
  const char* op;    ///< of rank 0, in round 0 of an allreduce with two chunks
  const char* what;  ///< in the verdict
};

TEST(WellFormed, RefusesWrongOps) {
  const Case cases[] = {
      {"wait 2 step 1", "the peer is not a rank"},
      {"send 2: input[0..1)", "the peer is not a rank"},
      {"send 0: input[0..1)", "cannot send to itself"},
      {"send 1: staging@1[0..1)", "staging@1[0..1) is not the rank's own"},
      {"copy staging@1[0..1) = input[0..1)", "writes into the memory of a peer"},
      {"copy input[0..1) = output[0..1)", "writes the input"},
      {"copy output[0..1) = input[0..1) + input[0..1)", "has more than one source"},
      {"copy output[0..2) = input[0..1)", "another number of chunks"},
      {"copy output[0..1) = staging@1[0..1)", "that is a read"},
      {"read output[0..1) = input[0..1)", "that is a copy"},
      {"read output[0..1) = staging@2[0..1)", "is not a peer"},
      {"read output[0..1) = staging@0[0..1)", "is not a peer"},
      {"read output[0..1) = scratch@1[0..1)", "is private"},
      {"copy output[0..1) = input[1..2)", "another size"},
      {"copy output[0..1) = scratch[2..3)", "outside of its window"},
      {"send 1: input[4294967295..4294967296)", "outside of its window"},
      {"expose staging[0..1)", "only the own input and output can be exposed"},
      {"expose input@1[0..1)", "only the own input and output can be exposed"},
  };
  for (const Case& c : cases) {
    const std::string what = fault(pair("allreduce", "2", std::string("round 0: ") + c.op));
    EXPECT_NE(what.find(c.what), std::string::npos) << c.op << ": " << what;
    EXPECT_EQ(what.find("rank 0, round 0, op 0"), 0u) << what;
  }
}

TEST(WellFormed, RefusesDataInABarrier) {
  EXPECT_NE(fault(pair("barrier", "0", "round 0: copy output[0..1) = input[0..1)")).find("no data"),
            std::string::npos);
}

TEST(WellFormed, RefusesMessagesThatDoNotFit) {
  EXPECT_NE(fault(pair("bcast", "2", "round 0: send 1: input[0..2)", "round 0: recv 0: output[0..1)"))
                .find("sends 2 chunks"),
            std::string::npos);
  const std::string crossed =
      fault(pair("allreduce", "1", "round 0: send 1: input[0..1)", "round 0: send 0: input[0..1)"));
  EXPECT_EQ(crossed.find("rank 0, round 0, op 0"), 0u) << crossed;
}

TEST(WellFormed, RefusesTwoMessagesOfARoundOnTheSameWay) {
  const std::string what =
      fault(pair("allreduce", "2", "round 0: send 1: input[0..1)\nround 0: send 1: input[1..2)",
                 "round 0: recv 0: scratch[0..1)\nround 0: recv 0: scratch[1..2)"));
  EXPECT_NE(what.find("second message of this round"), std::string::npos) << what;
}

TEST(WellFormed, RefusesWrongHeaders) {
  const Schedules good = pair("allreduce", "2", "round 0: signal 1\nround 1: signal 2");
  const auto refused = [&](auto change) {
    Schedules s = good;
    change(s[1]);
    const std::string what = fault(s);
    return what.starts_with("rank 1") ? what : "";
  };
  EXPECT_NE(refused([](Schedule& s) { s.collective = Collective::scan; }).find("another operation"),
            std::string::npos);
  EXPECT_NE(refused([](Schedule& s) { s.rank = 0; }).find("another rank"), std::string::npos);
  EXPECT_EQ(fault({}), "no schedules");
  Schedules s = good;
  s[0].rounds = {1, 1};
  EXPECT_NE(fault(s).find("rounds are empty"), std::string::npos);
  s[0].rounds = {1};
  EXPECT_NE(fault(s).find("the last round does not end"), std::string::npos);
  s = good;
  s[0].staging.count = 3;
  EXPECT_NE(fault(s).find("staging window"), std::string::npos);
  s = good;
  s[0].ops[0].regions = 1;
  EXPECT_NE(fault(s).find("its regions do not exist"), std::string::npos);
  for (auto& one : s = pair("allgather", "2", "")) one.chunks = 3;
  EXPECT_NE(fault(s).find("one chunk per rank"), std::string::npos);
}

TEST(Memory, SeesAWriteThatRacesWithAnEarlierRead) {
  // Rank 0 says that it is done before it reads; rank 1 believes it.
  const std::string what =
      fault(pair("allreduce", "1",
                 "round 0: wait 1 step 1\nround 0: signal 1\nround 0: read output[0..1) = staging@1[0..1)",
                 "round 0: copy staging[0..1) = input[0..1)\nround 0: signal 1\n"
                 "round 0: wait 0 step 1\nround 0: copy staging[0..1) = input[0..1)"));
  EXPECT_NE(what.find("writes staging[0..1), a race with rank 0, round 0, op 2"), std::string::npos) << what;
}

TEST(Memory, SeesAReadOfStagingThatNobodyFilled) {
  const std::string what =
      fault(pair("allreduce", "1", "round 0: wait 1 step 1\nround 0: read output[0..1) = staging@1[0..1)",
                 "round 0: signal 1"));
  EXPECT_NE(what.find("staging@1[0..1), which is undefined"), std::string::npos) << what;
}

TEST(Memory, SeesTwoRecvsIntoOnePlace) {
  const std::string what = fault(pair("bcast", "1", "round 0: send 1: input[0..1), input[0..1)",
                                      "round 0: recv 0: output[0..1), output[0..1)"));
  EXPECT_NE(what.find("writes output[0..1) while a recv of the same round"), std::string::npos) << what;
}

TEST(Memory, SeesShiftedOverlap) {
  const std::string what = fault(pair("allgather", "2",
                                      "round 0: copy output[0..1) = input[0..1)\n"
                                      "round 1: copy scratch[0..1) = output[0..1)\n"
                                      "round 1: copy scratch[1..2) = output[0..1)\n"
                                      "round 2: reduce scratch[0..2) = scratch[0..2) + scratch[0..2)"),
                                 Sizes::equal);
  EXPECT_EQ(what.find("overlaps"), std::string::npos) << "equal regions may overlap: " << what;
  Schedules s = pair("alltoall", "2",
                     "round 0: copy scratch[0..2) = input[0..2)\nround 1: copy output[0..2) = scratch[0..2)\n"
                     "round 2: copy scratch[0..1) = scratch[1..2)");
  EXPECT_EQ(fault(s, Sizes::equal).find("overlaps"), std::string::npos);
  s[0].scratch_planes = 2;
  s[0].ops[2].target = scratch(1, 2);
  s[0].regions[2] = scratch(0, 2);
  EXPECT_NE(fault(s, Sizes::equal).find("scratch[0..2) overlaps the target without being equal"),
            std::string::npos)
      << fault(s);
}

}  // namespace
}  // namespace hocket::ir
