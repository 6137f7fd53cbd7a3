// Is the verifier's verdict to be trusted? Rows of the catalog are damaged at random; whatever the verifier
// still accepts is run by the interpreter in many interleavings, and must give the right bytes. The seed is
// printed; TEST_SEED repeats a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <random>

#include "algorithms/catalog.hpp"
#include "base/error.hpp"
#include "harness/seed.hpp"
#include "ir/interpret.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"

namespace hocket::ir {
namespace {

using Random = std::mt19937_64;
using Schedules = std::vector<Schedule>;

std::uint32_t below(Random& random, std::size_t end) {
  return static_cast<std::uint32_t>(random() % end);
}

template <class T>
T& any_of(std::vector<T>& all, Random& random) {
  return all[below(random, all.size())];
}

void end_rounds_again(Schedule& s) {
  std::erase(s.rounds, 0u);
  s.rounds.erase(std::unique(s.rounds.begin(), s.rounds.end()), s.rounds.end());
}

void drop_op(Schedule& s, Random& random) {
  const std::uint32_t op = below(random, s.ops.size());
  s.ops.erase(s.ops.begin() + op);
  for (auto& end : s.rounds) end -= end > op;
  end_rounds_again(s);
}

void repeat_op(Schedule& s, Random& random) {
  const std::uint32_t op = below(random, s.ops.size());
  const Op copy = s.ops[op];
  s.ops.insert(s.ops.begin() + op, copy);
  for (auto& end : s.rounds) end += end > op;
}

void swap_ops(Schedule& s, Random& random) {
  std::swap(any_of(s.ops, random), any_of(s.ops, random));
}

void join_rounds(Schedule& s, Random& random) {
  if (s.rounds.size() > 1) s.rounds.erase(s.rounds.begin() + below(random, s.rounds.size() - 1));
}

void change_peer(Schedule& s, Random& random) {
  any_of(s.ops, random).peer = below(random, s.ranks);
}

void change_step(Schedule& s, Random& random) {
  any_of(s.ops, random).step += random() % 2 ? 1 : -1;
}

void swap_operands(Schedule& s, Random& random) {
  if (!s.regions.empty()) std::swap(any_of(s.regions, random), any_of(s.regions, random));
}

void repeat_operand(Schedule& s, Random& random) {
  if (!s.regions.empty()) any_of(s.regions, random) = Region(any_of(s.regions, random));
}

void shift_region(Schedule& s, Random& random) {
  if (!s.regions.empty()) any_of(s.regions, random).first += random() % 2 ? 1 : -1;
}

void change_owner(Schedule& s, Random& random) {
  if (s.regions.empty()) return;
  any_of(s.regions, random).owner = static_cast<Rank>(below(random, s.ranks + 1)) - 1;
}

void shift_target(Schedule& s, Random& random) {
  any_of(s.ops, random).target.first += random() % 2 ? 1 : -1;
}

void change_group(Schedule& s, Random& random) {
  any_of(s.ops, random).group += random() % 2 ? 1 : -1;
}

void swap_members(Schedule& s, Random& random) {
  if (s.groups.empty()) return;
  auto& members = any_of(s.groups, random);
  std::swap(any_of(members, random), any_of(members, random));
}

using Mutation = void (*)(Schedule&, Random&);
constexpr Mutation mutations[] = {drop_op,      repeat_op,     swap_ops,       join_rounds,  change_peer,
                                  change_step,  swap_operands, repeat_operand, shift_region, change_owner,
                                  shift_target, change_group,  swap_members};

/// Every chunk is one number; folding adds.
constexpr std::size_t chunk_bytes = sizeof(std::uint64_t);

std::uint64_t number_of(std::span<const std::byte> bytes) {
  std::uint64_t n;
  std::memcpy(&n, bytes.data(), sizeof n);
  return n;
}

void put(std::span<std::byte> bytes, std::uint64_t n) {
  std::memcpy(bytes.data(), &n, sizeof n);
}

/// Each rank has six bits of the number, so that a sum shows what went in and how often; the low byte adds up
/// the chunks.
std::uint64_t contribution(Rank r, std::uint32_t c) {
  return (std::uint64_t{1} << (8 + 6 * r)) + c;
}

struct Data {
  explicit Data(const Schedules& schedules) {
    for (const Schedule& s : schedules) {
      in.emplace_back(s.chunks * chunk_bytes);
      out.emplace_back(s.chunks * chunk_bytes);
      const std::vector<std::size_t> sizes(s.chunks, chunk_bytes);
      const auto input = cut(in.back(), sizes);
      for (std::uint32_t c = 0; c < s.chunks; ++c) put(input[c], contribution(s.rank, c));
      users.push_back({{input.begin(), input.end()}, cut(out.back(), sizes)});
    }
  }

  std::vector<std::vector<std::byte>> in, out;
  std::vector<UserBuffers> users;
};

void add(std::span<std::byte> left, std::span<const std::byte> right) {
  put(left, number_of(left) + number_of(right));
}

/// What the collective owes, computed without a schedule. Null where anything is right.
std::optional<std::uint64_t> owed(const Schedule& s, std::uint32_t c) {
  const Window w = output_window(s.collective, s.ranks, s.rank, s.root, s.chunks);
  if (c < w.first || c >= w.first + w.count) return std::nullopt;
  const auto rank = static_cast<std::uint32_t>(s.rank);
  const auto sum_of = [&](Rank count) {
    std::uint64_t sum = 0;
    for (Rank r = 0; r < count; ++r) sum += contribution(r, c);
    return sum;
  };
  switch (s.collective) {
    case Collective::bcast:
      return s.rank == s.root ? std::nullopt : std::optional(contribution(s.root, c));
    case Collective::scatter:
      return contribution(s.root, rank);
    case Collective::alltoall:
      return contribution(static_cast<Rank>(c), rank);
    case Collective::gather:
    case Collective::allgather:
      return contribution(static_cast<Rank>(c), c);
    case Collective::scan:
      return sum_of(s.rank + 1);
    case Collective::exscan:
      return sum_of(s.rank);
    default:
      return sum_of(s.ranks);
  }
}

std::string wrong_byte(const Schedules& schedules, std::uint64_t interleaving) {
  Data data(schedules);
  try {
    interpret(schedules, data.users, add, Sizes::equal, interleaving);
  } catch (const Error& error) {
    return error.what();
  }
  for (const Schedule& s : schedules)
    for (std::uint32_t c = 0; c < s.chunks; ++c) {
      const auto right = owed(s, c);
      if (right && number_of(data.users[s.rank].output[c]) != *right)
        return "rank " + std::to_string(s.rank) + ", chunk " + std::to_string(c);
    }
  return "";
}

Schedules all_ranks(const algorithms::Algorithm& row, Rank ranks, Rank root) {
  Schedules all;
  for (Rank r = 0; r < ranks; ++r)
    all.push_back(algorithms::build(row, {row.collective, ranks, r, root, true, algorithms::presets(row)}));
  return all;
}

struct Tally {
  int tried = 0, found = 0;
};

class Mutations : public testing::Test {
 protected:
  /// Damages one rank's schedule and holds the verdict against the interpreter.
  void try_one(const algorithms::Algorithm& row, std::uint64_t seed) {
    Random random(seed);
    const Rank ranks = 2 + static_cast<Rank>(below(random, 6));
    const Request request{row.collective, ranks, 0, 0, true, algorithms::presets(row)};
    if (!algorithms::fits(row, request)) return;
    Schedules schedules = all_ranks(row, ranks, ir::is_rooted(row.collective) ? below(random, ranks) : 0);
    const Schedules whole = schedules;
    Schedule& damaged = any_of(schedules, random);
    if (damaged.ops.empty()) return;
    mutations[below(random, std::size(mutations))](damaged, random);
    if (to_text(damaged) == to_text(whole[damaged.rank])) return;  // only a field that the op does not use
    Tally& tally = tallies_[row.collective];
    ++tally.tried;
    if (!verify(schedules, {.sizes = Sizes::equal})) return void(++tally.found);
    for (std::uint64_t interleaving = 0; interleaving < 6; ++interleaving)
      EXPECT_EQ(wrong_byte(schedules, interleaving), "")
          << "accepted, but wrong; seed " << seed << " of " << row.name << "\n"
          << to_text(damaged);
  }

  std::map<Collective, Tally> tallies_;
};

TEST(Interpreter, AgreesWithTheVerifierOnEveryRow) {
  for (const algorithms::Algorithm& row : algorithms::catalog())
    for (const Rank ranks : {1, 2, 3, 5, 8}) {
      if (!algorithms::fits(row, {row.collective, ranks, 0, 0, true, algorithms::presets(row)})) continue;
      for (std::uint64_t interleaving = 0; interleaving < 4; ++interleaving)
        EXPECT_EQ(wrong_byte(all_ranks(row, ranks, 0), interleaving), "") << row.name << " on " << ranks;
    }
}

TEST_F(Mutations, AreRejectedOrHarmless) {
  constexpr std::uint64_t tries_per_row = 400;
  std::uint64_t seed = harness::test_seed();
  for (const algorithms::Algorithm& row : algorithms::catalog())
    for (std::uint64_t i = 0; i < tries_per_row && !HasFailure(); ++i) try_one(row, ++seed);
  for (const auto& [collective, tally] : tallies_) {
    const double share =
        static_cast<double>(tally.found) / tally.tried;  // the rest is superfluous work, mostly
    RecordProperty(std::string(name_of(collective)), std::to_string(share));
    EXPECT_GT(share, 0.5) << name_of(collective) << ": the verifier accepts most of the damage";
  }
}

}  // namespace
}  // namespace hocket::ir
