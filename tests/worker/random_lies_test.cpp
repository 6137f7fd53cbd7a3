// What a rank may say to its worker, drawn at random: it harms nobody else (lies.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "harness/seed.hpp"
#include "lies.hpp"

namespace hocket::worker {
namespace {

constexpr double seconds_of_fuzz = 3;
#ifdef __SANITIZE_ADDRESS__  // which keeps 256 MiB of what was freed, and shadows all
constexpr std::size_t most_growth = std::size_t{1} << 30U;
#else
constexpr std::size_t most_growth = std::size_t{256} << 20U;
#endif

std::uint64_t odd_number(std::mt19937_64& random) {
  static constexpr std::uint64_t odd[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 63, 64, 65, 4095, 1U << 20U};
  switch (random() % 4) {
    case 0:
      return std::uint64_t{1} << random() % 64;
    case 1:
      return ~(std::uint64_t{1} << random() % 64);
    case 2:
      return odd[random() % std::size(odd)];
    default:
      return random() % 2048;
  }
}

template <class T>
void change(std::vector<T>& table, std::mt19937_64& random) {
  if (table.empty() || random() % 4 == 0)
    table.resize(ranks, static_cast<T>(odd_number(random)));
  else
    table[random() % table.size()] = static_cast<T>(odd_number(random));
}

const char* some_words(std::mt19937_64& random) {
  constexpr std::array words{" by nodes",      " reordered", " in 1024 segments", " by nodes with 64 leaders",
                             " in 2 segments", "(radix=64)", "(segments=1000)",   " by nodes(slices)"};
  return words[random() % words.size()];
}

/// One of the things that a rank says of a call.
void change(Define& define, std::mt19937_64& random) {
  executors::Operation& op = define.operation;
  const auto number = odd_number(random);
  switch (random() % 16) {
    case 0:
      return void(op.own_bytes = number);
    case 1:
      return void(op.agreed_bytes = number);
    case 2:
      return void(op.input_blocks.size = number);
    case 3:
      return void(op.output_blocks.size = number);
    case 4:
      return change(define.input_table.sizes, random);
    case 5:
      return change(define.input_table.offsets, random);
    case 6:
      return change(define.output_table.sizes, random);
    case 7:
      return change(define.output_table.offsets, random);
    case 8:
      return void(op.in_place = !op.in_place);
    case 9:
      return void(define.copies_input = !define.copies_input);
    case 10:
      return void(op.input = random() % 2 == 0 ? nullptr : op.output);
    case 11:
      return void(op.output = nullptr);
    case 12:
      return void(op.root = static_cast<ir::Rank>(random() % ranks));
    case 13:
      return void(define.recipe += some_words(random));
    case 14:
      return void(op.collective = static_cast<ir::Collective>(random() % ir::collective_count));
    default:
      define.kernel_type = static_cast<std::uint8_t>(random() % 32);
      op.reduction.element_bytes = random() % 2 == 0 ? 8 : number;
  }
}

/// All start the same call, of which one says something else than the others. What it touches is its own, or
/// the sanitizers tell.
TEST_F(Lies, RandomOnesOfACall) {
  std::uint64_t seed = harness::test_seed();
  const auto functions = harness::all_functions();
  const std::size_t before = resident_bytes();
  int started = 0;
  for (const Deadline end(seconds_of_fuzz); !end.passed() && !HasFailure(); ++seed) {
    SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    const NodeCall call(random, ranks, functions[random() % functions.size()], 200);
    const auto rows = call.rows();
    if (rows.empty()) continue;
    const Algorithm& row = *rows[random() % rows.size()];
    Node node = new_node();
    open(node, 1, 5, {0, 1, 2}, {0, 1, 0});
    for (ir::Rank rank = 0; rank < ranks; ++rank) {
      Define define = moved(call.define(rank, row, 2, 1), rank);
      for (std::size_t changes = rank == liar ? 1 + random() % 3 : 0; changes > 0; --changes)
        change(define, random);
      node.tell(rank, define);
      node.tell(rank, Start{2, 0, 1});
    }
    node.settle();
    started += node.is_served(liar) ? 1 : 0;
    expect_others_are_served(node);
  }
  EXPECT_GT(started, 0);
  EXPECT_LT(resident_bytes(), before + most_growth);
}

/// Good commands in any order, with numbers that mean something now and then.
Bytes some_command(const std::vector<Define>& defines, std::mt19937_64& random) {
  const auto number = [&] { return static_cast<std::uint32_t>(random() % 4); };
  switch (random() % 11) {
    case 10:
      return encode(Share{{odd_number(random), odd_number(random), odd_number(random), odd_number(random),
                           static_cast<std::int32_t>(random() % 64)}});
    case 0:
      return encode(Open{number(), {random() % 3, 0}, 0, {0, 1, 2}});
    case 1:
      return encode(Open{number(), {random() % 3, 0}, 1, {2, 0}});
    case 2:
    case 3: {
      Define define = defines[random() % defines.size()];
      define.number = number();
      define.communicator = number();
      if (random() % 2 == 0) change(define, random);
      return encode(define);
    }
    case 4:
      return encode(Abandon{number()});
    case 5:
      return encode(Forget{number()});
    case 6:
      return encode(Close{number()});
    case 7:
      return random() % 8 == 0 ? encode(Leave{0}) : encode(Connect{{{}, {}}, {0, number(), 1}});
    case 8:
      return encode(StartElsewhere{{number(), most_under_way + number(), number()}, random() % 3});
    default:
      return encode(Start{number(), number(), number()});
  }
}

void damage(Bytes& stream, std::mt19937_64& random) {
  for (std::size_t changes = random() % 4; changes > 0 && !stream.empty(); --changes)
    stream[random() % stream.size()] = static_cast<std::byte>(random());
  if (random() % 8 == 0) stream.resize(random() % (stream.size() + 1));
}

class Streams : public Lies {
 protected:
  std::vector<Define> some_defines(std::mt19937_64& random) const {
    std::vector<Define> defines;
    const auto functions = harness::all_functions();
    for (int i = 0; i < 4; ++i) {
      const NodeCall call(random, ranks, functions[random() % functions.size()], 50);
      const auto rows = call.rows();
      if (!rows.empty())
        defines.push_back(moved(call.define(liar, *rows[random() % rows.size()], 1, 1), liar));
    }
    if (defines.empty()) defines.push_back(allreduce());
    return defines;
  }

  Bytes some_stream(std::mt19937_64& random) const {
    const auto defines = some_defines(random);
    Bytes stream;
    for (std::size_t commands = 1 + random() % 40; commands > 0; --commands) {
      const Bytes one = some_command(defines, random);
      stream.insert(stream.end(), one.begin(), one.end());
    }
    return stream;
  }

  /// In pieces of any length.
  static void say(Node& node, std::span<const std::byte> rest, std::mt19937_64& random) {
    while (!rest.empty() && node.is_served(liar)) {
      const std::size_t length = std::min<std::size_t>(rest.size(), 1 + random() % 400);
      node.write(liar, rest.first(length));
      rest = rest.subspan(length);
      node.turn();
    }
    node.settle();
  }
};

TEST_F(Streams, OfDamagedCommandsHarmNobodyElse) {
  std::uint64_t seed = harness::test_seed();
  const std::size_t before = resident_bytes();
  for (const Deadline end(seconds_of_fuzz); !end.passed() && !HasFailure(); ++seed) {
    SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    Bytes stream = some_stream(random);
    damage(stream, random);
    Node node = new_node();
    say(node, stream, random);
    expect_others_are_served(node);
  }
  EXPECT_LT(resident_bytes(), before + most_growth);
}

TEST_F(Streams, OfNonsenseHarmNobodyElse) {
  std::uint64_t seed = harness::test_seed();
  for (const Deadline end(seconds_of_fuzz / 3); !end.passed() && !HasFailure(); ++seed) {
    SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    Bytes stream(random() % 3000);
    for (std::byte& byte : stream) byte = static_cast<std::byte>(random());
    // often of a kind that there is
    if (random() % 2 == 0 && stream.size() > sizeof(CommandHead)) {
      const CommandHead head{static_cast<CommandKind>(random() % 12),
                             static_cast<std::uint32_t>(random() % 2000) & longest_command};
      std::memcpy(stream.data(), &head, sizeof head);
    }
    Node node = new_node();
    say(node, stream, random);
    expect_others_are_served(node);
  }
}

}  // namespace
}  // namespace hocket::worker
