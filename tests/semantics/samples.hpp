// Small schedules whose behaviour is known, for tests of the verifier, the interpreter and the passes
// themselves.
#pragma once

#include <vector>

#include "ir/builder.hpp"

namespace hocket::samples {

using ir::Builder;
using ir::Collective;
using ir::Rank;
using ir::Region;
using ir::Schedule;

inline Schedule shape(Collective collective, Rank ranks, Rank rank, std::uint32_t chunks) {
  Schedule s;
  s.collective = collective;
  s.ranks = ranks;
  s.rank = rank;
  s.chunks = chunks;
  return s;
}

template <class Build>
std::vector<Schedule> all_ranks(Rank ranks, Build build) {
  std::vector<Schedule> all;
  for (Rank r = 0; r < ranks; ++r) all.push_back(build(ranks, r));
  return all;
}

/// Reduce-scatter ring, then allgather ring: send and recv, operands in the order of the ring.
inline Schedule ring_allreduce(Rank ranks, Rank rank) {
  Schedule s = shape(Collective::allreduce, ranks, rank, ranks);
  s.scratch_planes = 1;
  Builder b(s);
  const Rank right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  auto chunk = [&](Rank steps_back) {
    return static_cast<std::uint32_t>((rank + 2 * ranks - steps_back) % ranks);
  };
  for (Rank i = 0; i < ranks - 1; ++i) {
    b.send(right, i == 0 ? ir::input(chunk(0)) : ir::output(chunk(i)));
    b.recv(left, ir::scratch(chunk(i + 1)));
    b.round();
    b.reduce(ir::output(chunk(i + 1)), {ir::scratch(chunk(i + 1)), ir::input(chunk(i + 1))});
  }
  for (Rank i = 0; i < ranks - 1; ++i) {
    b.send(right, ir::output(chunk(i + ranks - 1)));
    b.recv(left, ir::output(chunk(i + ranks)));
    b.round();
  }
  if (ranks == 1) b.copy(ir::output(0), ir::input(0));
  b.finish();
  return s;
}

/// Everybody stages, waits, and folds everything in the order of ranks: one-sided.
inline Schedule flat_allreduce(Rank ranks, Rank rank) {
  Schedule s = shape(Collective::allreduce, ranks, rank, 1);
  s.staging = {0, 1, 1};
  Builder b(s);
  std::vector<Region> operands;
  for (Rank q = 0; q < ranks; ++q) operands.push_back(q == rank ? ir::input(0) : ir::of(q, ir::staging(0)));
  if (ranks > 1) {
    b.copy(ir::staging(0), ir::input(0));
    b.wait_everyone(b.signal());
  }
  b.reduce(ir::output(0), operands);
  b.finish();
  return s;
}

/// Rank 0 exposes its vector; the others read it and say when they are done.
inline Schedule exposed_bcast(Rank ranks, Rank rank) {
  Schedule s = shape(Collective::bcast, ranks, rank, 2);
  Builder b(s);
  if (rank == 0) {
    b.expose(ir::input(0, 2));
    b.signal();
    b.round();
    b.wait_everyone(1);
  } else {
    b.wait(0, 1);
    b.copy(ir::output(0, 2), ir::of(0, ir::input(0, 2)));
    b.signal();
  }
  b.finish();
  return s;
}

/// Binomial tree from rank 0.
inline Schedule binomial_bcast(Rank ranks, Rank rank) {
  Schedule s = shape(Collective::bcast, ranks, rank, 1);
  Builder b(s);
  Rank mask = 1;
  while (mask < ranks && (rank & mask) == 0) mask <<= 1;
  if (rank != 0) b.recv(rank - mask, ir::output(0));
  b.round();
  for (mask >>= 1; mask > 0; mask >>= 1) {
    if (rank + mask < ranks) b.send(rank + mask, rank == 0 ? ir::input(0) : ir::output(0));
    b.round();
  }
  b.finish();
  return s;
}

/// Pairs fold at their even rank; those aggregate, and hand the result back.
inline Schedule aggregated_allreduce(Rank ranks, Rank rank) {
  Schedule s = shape(Collective::allreduce, ranks, rank, 1);
  s.scratch_planes = 1;
  Builder b(s);
  const bool leads = rank % 2 == 0, is_pair = (rank ^ 1) < ranks;
  const Region mine = leads && is_pair ? ir::output(0) : ir::input(0);
  if (!leads) {
    b.send(rank - 1, mine);
    b.round();
    b.recv(rank - 1, ir::output(0));
    b.finish();
    return s;
  }
  if (is_pair) {
    b.recv(rank + 1, ir::scratch(0));
    b.round();
    b.reduce(ir::output(0), {ir::input(0), ir::scratch(0)});
  }
  std::vector<Rank> leaders;
  for (Rank leader = 0; leader < ranks; leader += 2) leaders.push_back(leader);
  const std::uint32_t group = b.group(leaders);
  const std::uint32_t step = b.aggregate(group, ir::everyone, ir::output(0), std::span(&mine, 1));
  b.round();
  b.settle(group, step);
  b.round();
  if (is_pair) b.send(rank + 1, ir::output(0));
  b.finish();
  return s;
}

}  // namespace hocket::samples
