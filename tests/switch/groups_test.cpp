// Groups of trees of switches: how they come about, who is refused, and who may stream.
#include <gtest/gtest.h>

#include <barrier>
#include <functional>
#include <future>
#include <string>

#include "group_calls.hpp"
#include "tree.hpp"

namespace hocket::harness {
namespace {

using wire::Error;

constexpr std::uint32_t here = 1;  ///< the group of most tests

aggregation::Limits impatient() {
  aggregation::Limits limits;
  limits.join_seconds = 0.5;
  return limits;
}

class Groups : public testing::TestWithParam<TreeShape> {
 protected:
  Tree tree_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Trees, Groups, testing::Values(TreeShape{}, TreeShape{2}, TreeShape{2, 2}), name_of);

TEST_P(Groups, OfSomeMembersLiveBesideEachOther) {
  in_threads(6, [&](std::size_t i) {
    const auto rank = static_cast<std::uint32_t>(i);
    Member member(tree_.place_of(i), 1, rank);
    ASSERT_EQ(member.join(1, 6, rank), Error::none);
    ASSERT_EQ(member.join(2 + rank % 2, 3, rank / 2), Error::none) << "under one leaf, where there are any";
    ASSERT_EQ(member.join(4 + rank / 3, 3, 2 - rank % 3), Error::none) << "across leaves";
    for (std::uint32_t k = 0; k < 3; ++k) {
      EXPECT_EQ(sum(member, 1, k, rank), 15u);
      EXPECT_EQ(sum(member, 2 + rank % 2, k, rank), rank % 2 == 0 ? 6u : 9u);
      EXPECT_EQ(sum(member, 4 + rank / 3, k, rank), rank < 3 ? 3u : 12u);
    }
    for (const std::uint32_t group : {1U, 2 + rank % 2, 4 + rank / 3}) member.leave(group);
  });
}

TEST_P(Groups, SayHowFarTheirRootIs) {
  in_threads(2, [&](std::size_t i) {
    Member member(tree_.place_of(i), 1, static_cast<std::uint32_t>(i));
    member.begin_join(here, 2, static_cast<std::uint32_t>(i));
    EXPECT_EQ(member.verdict(here).height, GetParam().height());
    member.begin_join(10 + static_cast<std::uint32_t>(i), 1, 0);
    EXPECT_EQ(member.verdict(10 + static_cast<std::uint32_t>(i)).height, 0u) << "of one leaf alone";
  });
}

TEST_P(Groups, OfTwoJobsHaveTheSameNumber) {
  in_threads(4, [&](std::size_t i) {
    const std::uint64_t job = 7 + i / 2;
    Member member(tree_.place_of(i), job, static_cast<std::uint32_t>(i % 2));
    ASSERT_EQ(member.join(here, 2, static_cast<std::uint32_t>(i % 2)), Error::none);
    EXPECT_EQ(sum(member, here, 0, static_cast<std::uint32_t>(job)), 2 * job);
  });
}

TEST_P(Groups, CanBeMadeAndLeftWithoutEnd) {
  in_threads(2, [&](std::size_t i) {
    Member member(tree_.place_of(i), 1, static_cast<std::uint32_t>(i));
    for (std::uint32_t group = 1; group < 60; ++group) {
      ASSERT_EQ(member.join(group, 2, static_cast<std::uint32_t>(i)), Error::none) << group;
      ASSERT_EQ(sum(member, group, 0, 1), 2u);
      member.leave(group);
    }
  });
}

/// Of members that have as many groups as there are, only one leaves an old one: there is room for another.
TEST_P(Groups, EndForAllWithTheFirstWhoLeaves) {
  aggregation::Limits limits;
  limits.groups = 2;
  const Tree tree(GetParam(), limits);
  std::barrier everybody(3);
  in_threads(3, [&](std::size_t i) {
    const auto rank = static_cast<std::uint32_t>(i);
    Member member(tree.place_of(i), 1, rank);
    for (const std::uint32_t group : {1U, 2U}) ASSERT_EQ(member.join(group, 3, rank), Error::none);
    for (std::uint32_t operation = 0; operation < 20; ++operation)
      EXPECT_EQ(sum(member, 1, operation, 1), 3u) << "and nobody misses the last one";
    if (i == 1) member.leave(1);
    if (i != 1) {
      EXPECT_EQ(failure_of(member, 1), "a member has left");
    }
    everybody.arrive_and_wait();
    EXPECT_EQ(member.join(3, 3, rank), Error::none);
    EXPECT_EQ(sum(member, 3, 0, 1), 3u);
    EXPECT_EQ(sum(member, 2, 0, 1), 3u) << "others go on";
  });
}

TEST_P(Groups, AreRefusedAlikeWhereNoneIsLeft) {
  aggregation::Limits limits;
  limits.groups = 2;
  const Tree tree(GetParam(), limits);
  in_threads(4, [&](std::size_t i) {
    Member member(tree.place_of(i), 1, static_cast<std::uint32_t>(i));
    EXPECT_EQ(member.terms.most_groups, 2u);
    for (const std::uint32_t group : {1U, 2U})
      EXPECT_EQ(member.join(group, 4, static_cast<std::uint32_t>(i)), Error::none);
    EXPECT_EQ(member.join(3, 4, static_cast<std::uint32_t>(i)), Error::group_refused);
    EXPECT_EQ(sum(member, 2, 0, 1), 4u) << "others go on";
  });
}

/// Only one leaf has no operations left; members under the other are refused all the same.
TEST_P(Groups, AreRefusedAlikeWhereOneSwitchCannot) {
  aggregation::Limits limits;
  limits.operations = limits.operations_per_group;
  const Tree tree(GetParam(), limits);
  std::promise<void> is_used, is_over;
  const std::shared_future<void> used = is_used.get_future().share(), over = is_over.get_future().share();
  in_threads(3, [&](std::size_t i) {
    Member member(tree.place_of(i), 1, static_cast<std::uint32_t>(i));
    if (i == 2) {  // under the leaf of member 0
      EXPECT_EQ(member.join(9, 1, 0), Error::none);
      is_used.set_value();
      over.wait_for(std::chrono::seconds(20));
      return;
    }
    used.wait_for(std::chrono::seconds(20));
    EXPECT_EQ(member.join(here, 2, static_cast<std::uint32_t>(i)), Error::quota);
    if (i == 0) is_over.set_value();
  });
}

TEST_P(Groups, ThatNotAllJoinAreRefusedInTime) {
  const Tree tree(GetParam(), impatient());
  in_threads(2, [&](std::size_t i) {
    Member member(tree.place_of(i), 1, static_cast<std::uint32_t>(i));
    try {
      EXPECT_EQ(member.join(here, 3, static_cast<std::uint32_t>(i)), Error::join_refused);
    } catch (const GroupFailed& failed) {  // another switch was the first to lose patience
      EXPECT_EQ(failed.error, Error::join_refused);
    }
  });
}

TEST_P(Groups, OfMembersThatDisagreeAreInvalid) {
  for (const bool is_size : {true, false})
    in_threads(2, [&](std::size_t i) {
      Member member(tree_.place_of(0), 1, static_cast<std::uint32_t>(i));
      const auto odd = static_cast<std::uint32_t>(i);
      EXPECT_EQ(is_size ? member.join(here, 2 + odd, odd) : member.join(here, 2, 0), Error::invalid);
    });
}

TEST_P(Groups, HaveTheLockForOneJobAtATime) {
  Company first(tree_, 2);
  in_threads(2, [&](std::size_t i) {
    Member other(tree_.place_of(i), 2, static_cast<std::uint32_t>(i));
    ASSERT_EQ(other.join(here, 2, static_cast<std::uint32_t>(i)), Error::none);
    EXPECT_EQ(other.lock(here), Error::lock_taken);
    EXPECT_EQ(sum(other, here, 0, 3), 6u) << "small operations need none";
    ASSERT_EQ(first[i].join(2, 2, static_cast<std::uint32_t>(i)), Error::none);
    EXPECT_EQ(first[i].lock(2), Error::none) << "another group of the job that has it";
    first[i].unlock(2);
    first[i].unlock(1);
    EXPECT_EQ(sum(first[i], 1, 0, 1), 2u) << "behind it";
    EXPECT_EQ(other.lock(here), Error::none);
    for (int again = 0; again < 5; ++again) {
      other.unlock(here);
      EXPECT_EQ(other.lock(here), Error::none) << "though others may still have it";
    }
  });
}

TEST_P(Groups, StreamNothingWhereTheTreeDoesNot) {
  aggregation::Limits limits;
  limits.can_stream = false;
  const Tree tree(GetParam(), limits);
  Company members(tree, 2, false);
  members.each([](Member& member, std::size_t) {
    EXPECT_EQ(member.terms.can_stream, 0u);
    EXPECT_EQ(member.lock(1), Error::lock_denied);
  });
}

TEST(Tree, IsHadByAJobOrIsNot) {
  aggregation::Limits limits;
  limits.jobs = 1;
  const Tree tree({}, limits);
  const Member first(tree.place_of(0), 1, 0), second(tree.place_of(0), 1, 1);
  EXPECT_THROW(Member(tree.place_of(0), 2, 0), hocket::Error);
}

TEST(Tree, HasSoManyPorts) {
  aggregation::Limits limits;
  limits.children = 2;
  const Tree tree({}, limits);
  const Member first(tree.place_of(0), 1, 0), second(tree.place_of(0), 2, 0);
  EXPECT_THROW(Member(tree.place_of(0), 1, 1), hocket::Error);
}

TEST(Tree, DoesNotLetAnotherKeyIn) {
  const Tree tree({});
  tcp::Key other = wire::no_key();
  other[0] = 'x';
  EXPECT_THROW(Member(tree.place_of(0), 1, 0, other), hocket::Error);
}

}  // namespace
}  // namespace hocket::harness
