// Index arithmetic of the algorithms: every pattern against its definition, for many numbers of ranks.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "algorithms/formulas.hpp"

namespace hocket::algorithms {
namespace {

constexpr Rank most_ranks = 70;

TEST(Logarithm, RoundsUpOrDown) {
  EXPECT_EQ(ceil_log(2, 1), 0);
  EXPECT_EQ(ceil_log(2, 8), 3);
  EXPECT_EQ(ceil_log(2, 9), 4);
  EXPECT_EQ(ceil_log(3, 28), 4);
  EXPECT_EQ(ceil_log(64, 2'000'000'000), 6);
  EXPECT_EQ(floor_power_of_two(1), 1);
  EXPECT_EQ(floor_power_of_two(15), 8);
  EXPECT_EQ(floor_power_of_two(16), 16);
  EXPECT_EQ(floor_power_of_two(2'000'000'000), 1 << 30);
}

TEST(Ring, PlacesAreRanksSeenFromTheRoot) {
  EXPECT_EQ(place_of(2, 5, 7), 4);
  for (Rank rank = 0; rank < 7; ++rank) EXPECT_EQ(rank_at(place_of(rank, 5, 7), 5, 7), rank);
  EXPECT_EQ(after(6, 1, 7), 0);
  EXPECT_EQ(before(0, 1, 7), 6);
  EXPECT_EQ(before(3, 7, 7), 3);
}

TEST(Ring, RunsWrapAroundInTwoPieces) {
  using Regions = std::vector<ir::Region>;
  EXPECT_EQ(run_of(ir::output, 2, 3, 7), Regions{ir::output(2, 3)});
  EXPECT_EQ(run_of(ir::output, 5, 4, 7), (Regions{ir::output(5, 2), ir::output(0, 2)}));
  EXPECT_EQ(run_of(ir::output, 7, 2, 7), Regions{ir::output(0, 2)});
  EXPECT_EQ(run_of(ir::output, 4, 3, 7), Regions{ir::output(4, 3)});
  EXPECT_TRUE(run_of(ir::output, 4, 0, 7).empty());
}

TEST(KnomialTree, ChildrenSubtreesFollowEachOtherAndCoverAll) {
  for (const Rank radix : {2, 3, 4, 8, 64})
    for (Rank ranks = 1; ranks <= most_ranks; ++ranks) {
      const KnomialTree tree(radix, ranks);
      for (Rank place = 0; place < ranks; ++place) {
        Rank next = place + 1;
        for (const Subtree& child : tree.children(place)) {
          EXPECT_EQ(child.first, next);
          EXPECT_EQ(tree.parent(child.first), place);
          EXPECT_EQ(tree.subtree(child.first), child);
          next += child.count;
        }
        EXPECT_EQ(next, place + tree.subtree(place).count) << "place " << place << " of " << ranks;
      }
      EXPECT_EQ(tree.subtree(0), (Subtree{0, ranks}));
      EXPECT_EQ(static_cast<Rank>(tree.levels(0).size()), ceil_log(radix, ranks));
    }
}

TEST(KnomialTree, TakesHugeNumbersOfRanks) {
  const KnomialTree tree(2, 2'000'000'000);
  EXPECT_EQ(tree.children(0).size(), 31u);
  EXPECT_EQ(tree.parent(1 << 30), 0);
}

TEST(FoldIn, PlacesStandForConsecutiveRanks) {
  for (Rank ranks = 1; ranks <= most_ranks; ++ranks) {
    const FoldIn fold(ranks);
    EXPECT_EQ(fold.first_rank(0), 0);
    EXPECT_EQ(fold.first_rank(fold.places()), ranks);
    EXPECT_EQ(fold.folds(), !is_power_of_two(ranks));
    for (Rank rank = 0; rank < ranks; ++rank) {
      const Rank place = fold.place(rank);
      EXPECT_GE(rank, fold.first_rank(place));
      EXPECT_LT(rank, fold.first_rank(place + 1));
      EXPECT_EQ(fold.rank_at(place), fold.gives(rank) ? rank + 1 : rank);
      EXPECT_TRUE(!fold.gives(rank) || fold.takes(rank + 1));
    }
  }
}

TEST(Halving, PartnersShareWhatBothHeld) {
  constexpr Rank places = 16;
  for (Rank place = 0; place < places; ++place) {
    Range held{0, places};
    for (Rank distance = 1; distance < places; distance *= 2) {
      EXPECT_EQ(kept(held, place, distance), given(held, place ^ distance, distance));
      held = kept(held, place, distance);
    }
    EXPECT_EQ(held.count(), 1);
  }
  EXPECT_EQ((Range{3, 8}.lower()), (Range{3, 5}));
  EXPECT_EQ((Range{3, 8}.upper()), (Range{5, 8}));
}

TEST(Bruck, DigitsAddUpToTheDistance) {
  for (const Rank radix : {2, 3, 7})
    for (Rank offset = 1; offset < most_ranks; ++offset) {
      Rank travelled = 0, weight = 1;
      while (!arrives(offset, weight, radix)) {
        travelled += digit(offset, weight, radix) * weight;
        weight *= radix;
      }
      EXPECT_NE(digit(offset, weight, radix), 0);
      EXPECT_EQ(travelled + digit(offset, weight, radix) * weight, offset);
    }
  EXPECT_EQ(bruck_blocks(8, 2), 12);
  EXPECT_EQ(bruck_blocks(8, 64), 7);
}

TEST(Grid, DistancesLeadFromEveryRankToEveryOtherAndBack) {
  for (const Rank radix : {2, 3, 4, 7})
    for (Rank ranks = 1; ranks <= most_ranks; ++ranks) {
      if (!fills_grid(ranks, radix)) continue;
      const Grid grid{ranks, radix};
      for (Rank rank = 0; rank < ranks; ++rank) {
        std::set<Rank> reached;
        for (Rank distance = 0; distance < ranks; ++distance) {
          reached.insert(grid.after(rank, distance));
          EXPECT_EQ(grid.before(grid.after(rank, distance), distance), rank);
        }
        EXPECT_EQ(reached.size(), static_cast<std::size_t>(ranks));
        EXPECT_EQ(*reached.rbegin(), ranks - 1);
      }
    }
}

TEST(Grid, IsFilledByProducts) {
  EXPECT_TRUE(fills_grid(16, 4) && fills_grid(8, 4) && fills_grid(3, 4) && fills_grid(36, 6) &&
              fills_grid(1, 2));
  EXPECT_FALSE(fills_grid(24, 4) || fills_grid(6, 4) || fills_grid(5, 2));
  const Grid grid{16, 4};  // in the second dimension nobody leaves its column
  for (const Rank distance : {4, 8, 12}) EXPECT_EQ(grid.after(6, distance) % 4, 2);
  EXPECT_EQ(grid.after(7, 1), 4);  // in the first, nobody its row
}

TEST(Leaders, AreDistinctAndSpreadOverTheRanks) {
  for (Rank ranks = 1; ranks <= most_ranks; ++ranks)
    for (const Rank leaders : {1, 2, 3, 64}) {
      Request r{.collective = Collective::allreduce, .ranks = ranks, .parameters = {leaders, 0, 0}};
      EXPECT_EQ(leaders_of(r), std::min(leaders, ranks));
      Rank led = 0;
      for (Rank rank = 0; rank < ranks; ++rank) {
        const Rank slice = slice_led(r.seen_by(rank));
        EXPECT_TRUE(slice < 0 || leader_rank(r, slice) == rank);
        led += slice >= 0;
      }
      EXPECT_EQ(led, leaders_of(r));
    }
}

}  // namespace
}  // namespace hocket::algorithms
