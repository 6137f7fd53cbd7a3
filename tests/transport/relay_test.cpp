// Small results find their way to the members that the network has not brought them to, whoever those are.
#include "engine/aggregation/relay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <thread>

#include "harness/message_rounds.hpp"
#include "harness/seed.hpp"
#include "transports/fake/wire.hpp"

namespace hocket::engine::aggregation {
namespace {

using harness::all;
using transports::fake::Wire;
using transports::mpi::Network;

constexpr std::uint32_t operations = 400;

/// Which members have the result of an operation: all members draw the same.
std::vector<bool> who_has(std::uint64_t seed, std::uint32_t number, Rank ranks) {
  std::mt19937_64 random(seed * 1000 + number);
  const std::uint64_t kind = random() % 4;
  std::vector<bool> has;
  for (Rank rank = 0; rank < ranks; ++rank) has.push_back(kind == 0 ? random() % 2 == 0 : kind != 1);
  return has;
}

std::vector<std::byte> result_of(std::uint32_t number) {
  std::vector<std::byte> result(1 + number * 37 % Relay::most_bytes);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<std::byte>(number + i);
  return result;
}

/// What was wrong.
std::string run(Rank me, Rank ranks, Network& network, std::uint64_t seed) {
  const std::vector<Rank> members = all(ranks);
  Relay relay(network, harness::world, members, me);
  for (std::uint32_t number = 1; number <= operations; ++number) {
    const std::vector<bool> has = who_has(seed, number, ranks);
    const bool is_here = has[static_cast<std::size_t>(me)];
    const std::vector<std::byte> expected = result_of(number);
    std::vector<std::byte> result = is_here ? expected : std::vector<std::byte>(expected.size());
    relay.begin(number, result, is_here);
    Status status = relay.advance();
    for (; status == Status::pending; status = relay.advance()) std::this_thread::yield();
    const bool anybody = std::ranges::find(has, true) != has.end();
    if (status != Status::ok) return "operation " + std::to_string(number) + " failed";
    if ((relay.outcome() == Relay::Outcome::result) != anybody)
      return "operation " + std::to_string(number) + ": another outcome";
    if (anybody && result != expected) return "operation " + std::to_string(number) + ": another result";
  }
  return {};
}

class RelayUnderDelays : public testing::TestWithParam<double> {};

TEST_P(RelayUnderDelays, BringsResultsToWhoLacksThem) {
  const std::uint64_t seed = harness::test_seed();
  SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
  for (const Rank ranks : {2, 3, 7}) {
    Wire wire(ranks, {.seed = seed, .delay = GetParam()});
    std::vector<std::unique_ptr<Network>> networks;
    for (Rank r = 0; r < ranks; ++r) networks.push_back(std::make_unique<Network>(wire.port(r)));
    std::vector<std::string> wrong(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (Rank r = 0; r < ranks; ++r)
      threads.emplace_back([&, r] {
        const auto own = static_cast<std::size_t>(r);
        wrong[own] = run(r, ranks, *networks[own], seed);
      });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, std::vector<std::string>(wrong.size())) << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(Delays, RelayUnderDelays, testing::Values(0.0, 0.5));

/// Whoever has the result waits for nobody, as long as the others are not far behind.
TEST(Relay, HoldsNobodyUpWhoHasTheResult) {
  Wire wire(2, {});
  Network first(wire.port(0)), second(wire.port(1));
  const std::vector<Rank> members = all(2);
  Relay relay(first, harness::world, members, 0);
  std::vector<std::byte> result(8);
  std::uint32_t number = 0;
  do {
    relay.begin(++number, result, true);
    ASSERT_LT(number, 100U) << "what comes late is not kept for ever";
  } while (relay.advance() == Status::ok);
  EXPECT_GT(number, 8U);
  // The other one comes, and has all of them, too.
  Relay other(second, harness::world, members, 1);
  for (std::uint32_t n = 1; n < number; ++n) {
    other.begin(n, result, true);
    ASSERT_EQ(other.advance(), Status::ok);
  }
  EXPECT_EQ(relay.advance(), Status::ok);
}

}  // namespace
}  // namespace hocket::engine::aggregation
