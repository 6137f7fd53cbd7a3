// Where ranks are, from what each of them says of itself.
#include "engine/places.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/error.hpp"

namespace hocket::engine {
namespace {

using passes::By;
using passes::Level;

By by(Level level) {
  By result;
  result.add(level);
  return result;
}

Told told(std::size_t levels, std::vector<std::uint64_t> names, std::vector<std::uint64_t> sockets = {}) {
  return {levels, std::move(names), std::move(sockets), {}};
}

TEST(Places, ANodeIsWhereItsReaderSays) {
  // Node, leaf, pod; only the first rank of each node has read the machine's description.
  const std::vector<std::uint64_t> names = {10, 1, 100, 20, 2, 100, 10, 0, 0,
                                            20, 0, 0,   30, 3, 200, 40, 3, 200};
  const Places places(told(2, names));
  EXPECT_EQ(places.nodes(), 4U);
  EXPECT_EQ(places.leaves(), 3U);
  const std::vector<Rank> everybody = {0, 1, 2, 3, 4, 5};
  const passes::Neighbourhood near = places.of(everybody);
  EXPECT_EQ(near.distance(0, 2), 0U);
  EXPECT_EQ(near.distance(4, 5), 1U);
  EXPECT_EQ(near.distance(0, 3), 2U);
  EXPECT_EQ(near.distance(0, 5), 3U);
}

TEST(Places, WithoutSwitchesThereAreNodes) {
  const std::vector<std::uint64_t> names = {1, 1, 2, 2};
  const Places places(told(0, names));
  EXPECT_EQ(places.nodes(), 2U);
  EXPECT_EQ(places.leaves(), 1U);
  const std::vector<Rank> reversed = {3, 2, 1};
  const passes::Neighbourhood near = places.of(reversed);
  EXPECT_EQ(near.grouped(by(Level::leaves)), nullptr);
  ASSERT_NE(near.grouped(by(Level::nodes)), nullptr);
  EXPECT_EQ(near.distance(0, 1), 0U);
  EXPECT_EQ(near.distance(1, 2), 1U);
}

TEST(Places, NodesOfWhichNothingIsKnownAreTogether) {
  const std::vector<std::uint64_t> names = {1, 7, 2, 0, 3, 0};
  EXPECT_EQ(Places(told(1, names)).leaves(), 2U);
}

/// Sockets are numbered on each node anew; a rank that is bound to none is with those of its node that are
/// not either.
TEST(Places, KnowSockets) {
  const std::vector<std::uint64_t> names = {1, 1, 1, 1, 2, 2, 2, 2}, bound = {1, 2, 1, 2, 1, 0, 1, 0};
  const std::vector<Rank> everybody = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(Places(told(0, names)).sockets(), 0U);
  EXPECT_EQ(Places(told(0, names)).of(everybody).grouped(by(Level::sockets)), nullptr);
  EXPECT_EQ(Places(told(0, names, std::vector<std::uint64_t>(8, 0))).sockets(), 0U);
  const Places places(told(0, names, bound));
  EXPECT_EQ(places.sockets(), 4U);
  const passes::Neighbourhood near = places.of(everybody);
  const passes::Grouping* grouping = near.grouped(by(Level::sockets));
  ASSERT_NE(grouping, nullptr);
  EXPECT_EQ(grouping->groups.members(0, 3, -1), (std::vector<Rank>{1, 3}));
  EXPECT_EQ(grouping->groups.members(1, 0, -1), (std::vector<Rank>{0, 1, 4, 5}));
  EXPECT_EQ(near.distance(0, 1), 0U) << "on one node";
  EXPECT_EQ(std::vector<Rank>(near.order().begin(), near.order().end()), everybody)
      << "sockets do not change the order of ranks";
}

TEST(Places, RefuseALeafInTwoPods) {
  const std::vector<std::uint64_t> names = {1, 7, 100, 2, 7, 200};
  EXPECT_THROW(Places(told(2, names)), Error);
}

TEST(Places, KnowWhoseAnAddressIs) {
  Told all = told(0, {1, 2});
  EXPECT_FALSE(Places(all).has_internet(0, "10.77.0.1"));
  all.internet = {htonl(0x0a4d0001), 0, 0, 0, htonl(0x0a4d0101), htonl(0xc0a80001), 0, 0};
  const Places places(all);
  EXPECT_TRUE(places.has_internet(0, "10.77.0.1"));
  EXPECT_FALSE(places.has_internet(1, "10.77.0.1"));
  EXPECT_TRUE(places.has_internet(1, "192.168.0.1"));
  EXPECT_FALSE(places.has_internet(0, "0.0.0.0"));
  EXPECT_FALSE(places.has_internet(0, "an IPv6 address"));
  EXPECT_FALSE(places.has_internet(2, "10.77.0.1"));
}

TEST(Address, SaysWhichSocketTheRankIsBoundTo) {
  Options options;
  options.socket_size = 2;
  EXPECT_EQ(address_of(options, 1, false).socket, 1U);
  EXPECT_EQ(address_of(options, 2, false).socket, 2U);
}

TEST(Address, PretendedNodesAreThoseOfAMachineInWords) {
  Options options;
  options.node_size = 2;
  options.topology = "pod:2 leaf:2 node:1";
  const Address first = address_of(options, 0, true), same = address_of(options, 1, true),
                other = address_of(options, 2, true), far = address_of(options, 4, true);
  EXPECT_EQ(first.node, same.node);
  EXPECT_NE(first.node, other.node);
  ASSERT_EQ(first.switches.size(), 2U);
  EXPECT_EQ(first.switches, same.switches);
  EXPECT_NE(first.switches[0], other.switches[0]);
  EXPECT_EQ(first.switches[1], other.switches[1]);
  EXPECT_NE(first.switches[1], far.switches[1]);
  EXPECT_TRUE(address_of(options, 0, false).switches.empty());
  EXPECT_THROW(address_of(options, 8, true), Error);
}

TEST(Address, OfALeafBesideDeeperOnesIsAGroupOfItsOwnOnEveryLevel) {
  const auto names = [](std::uint64_t node, std::vector<std::uint64_t> switches) {
    return names_of({node, std::move(switches), {}, 0}, 2);
  };
  EXPECT_EQ(names(1, {}), (std::vector<std::uint64_t>{1, 0, 0})) << "nothing is known";
  EXPECT_EQ(names(1, {7}), (std::vector<std::uint64_t>{1, 7, 7}));
  std::vector<std::uint64_t> all;
  for (const auto& each : {names(1, {11, 100}), names(2, {12, 100}), names(3, {7}), names(4, {8})})
    all.insert(all.end(), each.begin(), each.end());
  const std::vector<Rank> everybody = {0, 1, 2, 3};
  const passes::Neighbourhood near = Places(told(2, all)).of(everybody);
  const passes::Grouping* grouping = near.grouped(by(Level::switches));
  ASSERT_NE(grouping, nullptr);
  EXPECT_EQ(grouping->groups.members(0, 0, -1), (std::vector<Rank>{0, 1}));
  EXPECT_EQ(grouping->groups.members(0, 2, -1), (std::vector<Rank>{2}));
}

}  // namespace
}  // namespace hocket::engine
