// When messages are on their way: what a rank sends without waiting leaves at once, what it hands on later.
#include "tuning/timeline.hpp"

#include <gtest/gtest.h>

#include <map>

#include "passes/recipe.hpp"

namespace hocket::tuning {
namespace {

using ir::Collective;
using ir::Rank;

std::map<std::pair<Rank, Rank>, std::vector<std::uint32_t>> times(const passes::Recipe& recipe, Rank ranks,
                                                                  const passes::Neighbourhood* near) {
  std::map<std::pair<Rank, Rank>, std::vector<std::uint32_t>> found;
  const auto all = passes::build_all(recipe, {recipe.algorithm->collective, ranks}, near);
  for (const Sent& sent : timeline(all)) found[{sent.from, sent.to}].push_back(sent.time);
  return found;
}

TEST(Timeline, ALeaderHandsOnWhatItHasReceived) {
  const passes::Neighbourhood near({{0, 0, 1, 1}});
  passes::Recipe recipe = passes::plain(*algorithms::find(Collective::scatter, "linear"));
  recipe.by.add(passes::Level::nodes);
  const auto found = times(recipe, 4, &near);
  EXPECT_EQ(found.at({0, 2}), std::vector<std::uint32_t>{0});
  EXPECT_EQ(found.at({0, 1}),
            std::vector<std::uint32_t>{0});  // a later round of the root, which waits for nobody
  EXPECT_EQ(found.at({2, 3}), std::vector<std::uint32_t>{1});
}

TEST(Timeline, SegmentsFollowEachOther) {
  passes::Recipe chain = passes::plain(*algorithms::find(Collective::bcast, "chain"));
  chain.segments = 3;
  const auto found = times(chain, 3, nullptr);
  EXPECT_EQ(found.at({0, 1}), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(found.at({1, 2}), (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(Timeline, RoundsOfARingWaitForTheOnesBefore) {
  const auto found = times(passes::plain(*algorithms::find(Collective::allgather, "ring")), 4, nullptr);
  for (Rank rank = 0; rank < 4; ++rank)
    EXPECT_EQ(found.at({rank, (rank + 1) % 4}), (std::vector<std::uint32_t>{0, 1, 2}));
}

}  // namespace
}  // namespace hocket::tuning
