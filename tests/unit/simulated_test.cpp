// The simulated executor against costs in closed form, and classes of ranks against all ranks one by one.
#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/catalog.hpp"
#include "base/error.hpp"
#include "executors/simulated/simulate.hpp"

namespace {

using namespace hocket;
using namespace hocket::executors::simulated;
using ir::Collective;
using ir::Request;

constexpr double latency = 1000, o = 200, gap = 300, per_byte = 0.5, copy = 0.25, reduction = 0.125;
constexpr std::uint64_t s = 4001;  // (s - 1) G is 2000

Level level_of(const char* name, Rank ranks, bool shared, double scale) {
  return {name, ranks, shared, {{0, latency * scale, o * scale, gap * scale, per_byte * scale}}};
}

/// One level only, as in the literature.
Network flat_network() {
  return {{level_of("all", 0, true, 1)}, copy, reduction, Switches{gap, per_byte}};
}

Network nodes_of(Rank cores, Rank node) {
  return {{level_of("cache", cores, true, 0.25), level_of("node", node, true, 0.5),
           level_of("network", 0, false, 1)},
          copy,
          reduction,
          Switches{gap, per_byte}};
}

Request request(const algorithms::Algorithm& row, Rank ranks, Rank root = 0) {
  return {.collective = row.collective, .ranks = ranks, .root = root, .parameters = presets(row)};
}

ScheduleOf schedules(const algorithms::Algorithm& row, const Request& r) {
  return [&row, r](Rank rank) { return algorithms::build(row, r.seen_by(rank)); };
}

Prediction predicted(Collective collective, const char* name, Rank ranks, std::uint64_t bytes,
                     const Network& network = flat_network(), std::uint64_t most = most_steps) {
  const auto& row = *algorithms::find(collective, name);
  return simulate(ranks, schedules(row, request(row, ranks)), bytes, network, most);
}

double log2_of(Rank ranks) {
  return std::ceil(std::log2(ranks));
}

// The root's sends are a gap apart; the last one then takes L and both overheads (Alexandrov et al. 1995).
TEST(ClosedForm, LinearScatter) {
  for (const Rank p : {2, 3, 17, 64}) {
    const auto found = predicted(Collective::scatter, "linear", p, s);
    EXPECT_DOUBLE_EQ(found.slowest().finish,
                     (p - 2) * (gap + (s - 1) * per_byte) + o + latency + (s - 1) * per_byte + o);
    EXPECT_DOUBLE_EQ(found.of(0).busy, (p - 1) * o + s * copy);
  }
}

// With a window of one, each block leaves when that before has come.
TEST(ClosedForm, LinearAlltoallWithAWindow) {
  const auto& row = *algorithms::find(Collective::alltoall, "linear");
  const auto takes = [&](Rank window) {
    Request r = request(row, 16);
    r.parameters[0] = window;
    return simulate(16, schedules(row, r), s, flat_network()).slowest().finish;
  };
  const double pairwise = predicted(Collective::alltoall, "pairwise", 16, s).slowest().finish;
  EXPECT_DOUBLE_EQ(takes(1) + s * copy, pairwise) << "which copies its own block before the first message";
  EXPECT_DOUBLE_EQ(takes(16), takes(0));
  EXPECT_LT(takes(4), takes(1));
}

// The root's way in takes one message after the other.
TEST(ClosedForm, LinearGather) {
  for (const Rank p : {2, 3, 17, 64}) {
    const auto found = predicted(Collective::gather, "linear", p, s);
    EXPECT_DOUBLE_EQ(found.of(0).finish,
                     o + latency + (p - 2) * (gap + (s - 1) * per_byte) + (s - 1) * per_byte + o);
    EXPECT_DOUBLE_EQ(found.of(0).busy, (p - 1) * o + s * copy);
    EXPECT_DOUBLE_EQ(found.of(p - 1).finish, o);
  }
}

// Small messages, o >= g: every level of the tree costs o at least; the path of first children dominates
// where L + 2 o exceeds it (Karp, Sahay, Santos, Schauser 1993; for powers of two (L + 2 o + (s-1) G) log2
// p).
TEST(ClosedForm, BinomialTreeBroadcast) {
  for (const Rank p : {2, 4, 8, 64, 1024}) {
    const auto found = predicted(Collective::bcast, "knomial", p, s);
    EXPECT_DOUBLE_EQ(found.slowest().finish, log2_of(p) * (latency + 2 * o + (s - 1) * per_byte)) << p;
    EXPECT_DOUBLE_EQ(found.of(0).finish, (log2_of(p) - 1) * (gap + (s - 1) * per_byte) + o) << p;
    EXPECT_DOUBLE_EQ(found.of(0).busy, log2_of(p) * o) << p;
  }
}

TEST(ClosedForm, DisseminationBarrier) {
  for (const Rank p : {2, 3, 8, 33, 1000}) {
    const auto found = predicted(Collective::barrier, "dissemination", p, 0);
    for (Rank r = 0; r < p; ++r) EXPECT_DOUBLE_EQ(found.of(r).finish, log2_of(p) * (latency + 2 * o)) << p;
    EXPECT_DOUBLE_EQ(found.of(0).busy, log2_of(p) * 2 * o);
  }
}

TEST(ClosedForm, RingAllgather) {
  for (const Rank p : {2, 3, 16, 100}) {
    const auto found = predicted(Collective::allgather, "ring", p, s);
    EXPECT_DOUBLE_EQ(found.slowest().finish, s * copy + (p - 1) * (latency + 2 * o + (s - 1) * per_byte))
        << p;
    EXPECT_DOUBLE_EQ(found.mean_busy(), s * copy + (p - 1) * 2 * o) << p;
  }
}

// Whole vectors, log2 p times (Thakur, Rabenseifner, Gropp 2005, in LogGP's terms).
TEST(ClosedForm, RecursiveDoublingAllreduce) {
  for (const Rank p : {2, 8, 256}) {
    const auto found = predicted(Collective::allreduce, "recursive_doubling", p, s);
    EXPECT_DOUBLE_EQ(found.slowest().finish,
                     log2_of(p) * (latency + 2 * o + (s - 1) * per_byte + s * reduction))
        << p;
  }
}

// Sender and receiver work on a message while its bytes travel (Hoefler, Schneider, Lumsdaine 2010: LogGOPS).
TEST(ClosedForm, OverheadPerByte) {
  Network network = flat_network();
  for (const double more : {0.25, 0.75}) {
    network.levels[0].protocols[0].O = more;
    const auto found = predicted(Collective::bcast, "chain", 2, s, network);
    EXPECT_DOUBLE_EQ(found.of(1).finish, latency + 2 * o + (s - 1) * std::max(per_byte, more));
    EXPECT_DOUBLE_EQ(found.of(1).busy, o + (s - 1) * more);
    EXPECT_DOUBLE_EQ(found.of(0).finish, o + (s - 1) * more);
  }
}

TEST(ClosedForm, FlatBarrierLooksAtEveryFlag) {
  const auto found = predicted(Collective::barrier, "flat", 5, 0);
  EXPECT_DOUBLE_EQ(found.of(0).finish, std::max(o + 4 * o, o + latency + o));
  EXPECT_DOUBLE_EQ(found.of(0).busy, o + 4 * o);
}

TEST(Levels, NearRanksTalkFaster) {
  const auto near = predicted(Collective::bcast, "knomial", 2, s, nodes_of(2, 4));
  EXPECT_DOUBLE_EQ(near.slowest().finish, 0.25 * (latency + 2 * o + (s - 1) * per_byte));
  const auto node = predicted(Collective::scatter, "linear", 4, s, nodes_of(1, 4));
  EXPECT_DOUBLE_EQ(node.of(3).finish,
                   0.5 * (2 * (gap + (s - 1) * per_byte) + 2 * o + latency + (s - 1) * per_byte));
}

TEST(Levels, AProtocolHoldsFromItsSizeOn) {
  Network network = flat_network();
  network.levels[0].protocols.push_back({1000, 7 * latency, o, gap, per_byte});
  EXPECT_DOUBLE_EQ(predicted(Collective::bcast, "chain", 2, 999, network).of(1).finish,
                   latency + 2 * o + 998 * per_byte);
  EXPECT_DOUBLE_EQ(predicted(Collective::bcast, "chain", 2, 1000, network).of(1).finish,
                   7 * latency + 2 * o + 999 * per_byte);
}

TEST(Levels, SharedMemoryIsNeededWhereFlagsAre) {
  EXPECT_NO_THROW(predicted(Collective::barrier, "flat", 4, 0, nodes_of(2, 4)));
  EXPECT_THROW(predicted(Collective::barrier, "flat", 8, 0, nodes_of(2, 4)), Error);
}

void expect_equal_clocks(const algorithms::Algorithm& row, Rank ranks, const Network& network, int& found) {
  const auto schedule_of = schedules(row, request(row, ranks));
  const Classes all = classify(ranks, schedule_of, 96, network, most_steps);
  ASSERT_EQ(all.period, ranks);
  Classes few;
  try {
    few = classify(ranks, schedule_of, 96, network, all.steps / 2);
  } catch (const Error&) {
    return;  // no classes: refused, not guessed
  }
  if (few.period == ranks) return;
  ++found;
  const Prediction whole = simulate(all, network), part = simulate(few, network);
  for (Rank r = 0; r < ranks; ++r) {
    EXPECT_DOUBLE_EQ(part.of(r).finish, whole.of(r).finish) << row.name << " rank " << r;
    EXPECT_DOUBLE_EQ(part.of(r).busy, whole.of(r).busy) << row.name << " rank " << r;
  }
}

bool shares_memory(const algorithms::Algorithm& row) {
  return row.access == algorithms::Access::one_sided;
}

TEST(Classes, HaveTheClocksOfAllTheirRanks) {
  int found = 0;
  for (const auto& row : algorithms::catalog())
    for (const Rank ranks : {24, 48, 96}) {
      if (!algorithms::fits(row, request(row, ranks))) continue;
      if (row.access != algorithms::Access::in_network)  // no switch is inside a node
        expect_equal_clocks(row, ranks, flat_network(), found);
      if (!shares_memory(row)) expect_equal_clocks(row, ranks, nodes_of(4, 12), found);
    }
  EXPECT_GT(found, 30);
}

TEST(Classes, MakeARingOfAHundredThousandRanksSmall) {
  const auto found = predicted(Collective::allgather, "ring", 100'000, s);
  EXPECT_EQ(found.of_class.size(), 1u);
  EXPECT_NEAR(found.slowest().finish / (s * copy + 99'999 * (latency + 2 * o + (s - 1) * per_byte)), 1, 1e-9);
}

TEST(Classes, AreRefusedWithReasonAndEstimate) {
  try {
    predicted(Collective::bcast, "scatter_allgather", 100'000, s);
    FAIL() << "a ring that starts with a tree has no classes";
  } catch (const Error& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("about 4.0e+10 ops on 100000 ranks are too many"),
              std::string::npos)
        << refusal.what();
  }
  EXPECT_THROW(predicted(Collective::allgather, "ring", 100'000, s, nodes_of(3, 30)),
               Error);  // 10 are left over
}

TEST(Trace, KeepsRepeatedRoundsOnce) {
  const auto& row = *algorithms::find(Collective::allgather, "ring");
  const Trace trace = trace_of(algorithms::build(row, request(row, 1000)), s);
  ASSERT_EQ(trace.rounds.size(), 2u);  // the first one has the copy, too
  EXPECT_EQ(trace.rounds[1].repeats, 998u);
  EXPECT_EQ(trace.steps.size(), 5u);
}

ir::Schedule of_bcast(Rank rank, std::uint32_t chunks) {
  ir::Schedule schedule;
  schedule.collective = Collective::bcast;
  schedule.ranks = 2;
  schedule.rank = rank;
  schedule.chunks = chunks;
  return schedule;
}

TEST(Simulation, NamesTheRankThatWaitsForEver) {
  const auto one_half = [](Rank rank) {
    ir::Schedule schedule = of_bcast(rank, 1);
    ir::Builder b(schedule);
    if (rank == 1) b.recv(0, ir::output(0));
    b.finish();
    return schedule;
  };
  EXPECT_THROW(simulate(2, one_half, 8, flat_network()), Error);
}

TEST(Simulation, NoticesHalvesOfDifferentSizes) {
  const auto unequal = [](Rank rank) {
    ir::Schedule schedule = of_bcast(rank, 2);
    ir::Builder b(schedule);
    if (rank == 0) b.send(1, ir::input(0, 2));
    if (rank == 1) b.recv(0, ir::output(0, 1));
    b.finish();
    return schedule;
  };
  EXPECT_THROW(simulate(2, unequal, 8, flat_network()), Error);
}

TEST(Network, ParametersAreChecked) {
  EXPECT_NO_THROW(nodes_of(4, 12).check(24));
  EXPECT_THROW(nodes_of(4, 10).check(40), Error);
  EXPECT_THROW((Network{{level_of("node", 4, true, 1)}, 0, 0}).check(8), Error);
  EXPECT_THROW((Network{{level_of("all", 0, true, -1)}, 0, 0}).check(8), Error);
  EXPECT_THROW((Network{{{"all", 0, true, {}}}, 0, 0}).check(8), Error);
}

}  // namespace
