// What is left of groups and trees when somebody goes, or breaks the rules.
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <string>

#include "group_calls.hpp"
#include "tree.hpp"

namespace hocket::harness {
namespace {

using wire::Error;

constexpr std::uint32_t here = 1;  ///< the group of most tests

class Groups : public testing::TestWithParam<TreeShape> {
 protected:
  Tree tree_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Trees, Groups, testing::Values(TreeShape{}, TreeShape{2}, TreeShape{2, 2}), name_of);

TEST_P(Groups, FailWithTheirMembers) {
  std::promise<void> is_gone;
  const std::shared_future<void> gone = is_gone.get_future().share();
  in_threads(4, [&](std::size_t i) {
    Member member(tree_.place_of(i), 1, static_cast<std::uint32_t>(i));
    ASSERT_EQ(member.join(here, 4, static_cast<std::uint32_t>(i)), Error::none);
    ASSERT_EQ(i < 3 ? member.join(2, 3, static_cast<std::uint32_t>(i)) : Error::none, Error::none);
    if (i == 3) {
      member.end();
      is_gone.set_value();
      return;
    }
    gone.wait_for(std::chrono::seconds(20));
    try {
      sum(member, here, 0, 1);
      ADD_FAILURE() << "without one of its members";
    } catch (const GroupFailed& failed) {
      EXPECT_TRUE(says(failed.what(), "lost rank 3 at 127.0.0.1")) << failed.what();
    }
    EXPECT_EQ(sum(member, 2, 0, 1), 3u) << "others go on";
  });
}

TEST_P(Groups, FailInTheMiddleOfAnOperation) {
  Company members(tree_, 4);
  const Call call{
      .type = kernels::ElementType::u8, .op = kernels::OpKind::bor, .is_streaming = true, .total = 1U << 20U};
  const Bytes data(call.total, std::byte{1});
  members.each([&](Member& member, std::size_t i) {
    if (i == 0) {
      member.send({.flags = wire::contributes | wire::wants | wire::streaming,
                   .type = call.type,
                   .op = call.op,
                   .group = 1,
                   .total = call.total},
                  std::span(data).first(5000));
      return member.end();
    }
    EXPECT_THROW(member.run(1, 0, call, data), GroupFailed);
  });
}

TEST_P(Groups, FailWhenAMemberLeavesTooEarly) {
  Company members(tree_, 2);
  members[1].leave(1);
  EXPECT_THROW(sum(members[0], 1, 0, 1), GroupFailed);
}

TEST_P(Groups, FailWhenMembersDisagreeAboutAnOperation) {
  using kernels::ElementType, kernels::OpKind;
  const Call usual{.type = ElementType::f32, .op = OpKind::sum, .total = 64};
  const std::vector<std::pair<std::function<void(Call&)>, std::string>> oddities{
      {[](Call& call) { call.type = ElementType::i32; }, "f32"},
      {[](Call& call) { call.op = OpKind::max; }, "max"},
      {[](Call& call) { call.total = 32; }, "32"},
      {[](Call& call) { call.is_streaming = true; }, "streaming"}};
  for (const auto& [change, word] : oddities) {
    Company members(tree_, 2);
    members.each([&](Member& member, std::size_t i) {
      Call own = usual;
      if (i == 1) change(own);
      try {
        member.run(1, 0, own, Bytes(64));
        ADD_FAILURE() << word;
      } catch (const GroupFailed& failed) {
        EXPECT_EQ(failed.error, Error::invalid);
        EXPECT_TRUE(says(failed.what(), word)) << failed.what();
      }
    });
  }
}

TEST_P(Groups, FailForWhatNobodyCanCombine) {
  using kernels::ElementType, kernels::OpKind;
  const std::vector<std::pair<Call, Error>> calls{
      {{.type = ElementType::f32, .op = OpKind::band, .total = 64}, Error::not_supported},
      {{.type = ElementType::none, .op = OpKind::sum, .total = 64}, Error::not_supported},
      {{.type = ElementType::u8, .op = OpKind::none, .total = 64}, Error::invalid},
      {{.type = ElementType::u8, .op = OpKind::sum, .total = 64, .contributes = false}, Error::invalid}};
  for (const auto& [call, error] : calls) {
    Company members(tree_, 2);
    members.each([&, expected = error, wanted = call](Member& member, std::size_t) {
      try {
        member.run(1, 0, wanted, Bytes(64));
        ADD_FAILURE() << static_cast<int>(expected);
      } catch (const GroupFailed& failed) {
        EXPECT_EQ(failed.error, expected) << failed.what();
      }
    });
  }
}

TEST_P(Groups, GiveTheLockBackWhenTheyFail) {
  auto first = std::make_unique<Company>(tree_, 2);
  (*first)[1].end();
  EXPECT_TRUE(says(failure_of((*first)[0], 1), "lost rank 1"));
  first.reset();
  in_threads(2, [&](std::size_t i) {
    Member other(tree_.place_of(i), 2, static_cast<std::uint32_t>(i));
    ASSERT_EQ(other.join(here, 2, static_cast<std::uint32_t>(i)), Error::none);
    Error error = Error::lock_taken;
    for (int tries = 0; tries < 100 && error == Error::lock_taken; ++tries) error = other.lock(here);
    EXPECT_EQ(error, Error::none);
  });
}

TEST_P(Groups, EndWithTheConnectionThatBreaksTheRules) {
  const Call call{
      .type = kernels::ElementType::u8, .op = kernels::OpKind::bor, .is_streaming = true, .total = 8U << 20U};
  const Bytes data(call.total);
  const std::vector<std::pair<const char*, std::function<void(Member&)>>> offences{
      {"further ahead than the window",
       [&](Member& member) {
         try {
           member.terms.window = call.total;
           member.send_more(1, 0, call, data, 0, 0);
         } catch (const hocket::Error&) {
           return;  // cut off while it was sending
         }
       }},
      {"bytes left out",
       [&](Member& member) {
         for (const std::uint64_t offset : {0U, 128U})
           member.send({.flags = wire::contributes | wire::streaming,
                        .type = call.type,
                        .op = call.op,
                        .group = 1,
                        .offset = offset,
                        .total = call.total},
                       std::span(data).first(64));
       }},
      {"more operations than it may have",
       [&](Member& member) {
         for (std::uint32_t k = 0; k <= member.terms.operations_per_group; ++k)
           member.send({.flags = wire::hollow, .group = 1, .operation = k});
       }},
      {"an unlock too many",
       [](Member& member) {
         member.unlock(1);
         member.unlock(1);
       }},
      {"a lock too many", [](Member& member) { member.send({.kind = wire::FrameKind::lock, .group = 1}); }},
      {"a second join", [](Member& member) { member.begin_join(1, 2, 1); }},
      {"another job's group",
       [](Member& member) {
         member.send_value(wire::FrameKind::join, 5, wire::Join{99, 5, 2, 1, 0, Error::none, 0});
       }},
      {"data before the verdict", [](Member& member) {
         member.begin_join(6, 2, 0);
         member.send({.flags = wire::hollow, .group = 6});
       }}};
  for (const auto& [what, offend] : offences) {
    Company members(tree_, 2);
    offend(members[1]);
    EXPECT_TRUE(is_cut_off(members[1])) << what;
    EXPECT_TRUE(says(failure_of(members[0], 1), "lost rank 1")) << what;
  }
}

TEST_P(Groups, NeedTheLockToStream) {
  Company members(tree_, 2, false);
  members[1].send({.flags = wire::hollow | wire::streaming, .group = 1});
  EXPECT_TRUE(is_cut_off(members[1]));
}

TEST(Tree, LosesItsRoot) {
  const Tree tree({2});
  Company members(tree, 4);
  for (std::uint32_t i = 0; i < 4; ++i)
    ASSERT_EQ(members[i].join(10 + i, 1, 0), Error::none) << "of one alone, for later";
  tree.root->stop();
  members.each([&](Member& member, std::size_t i) {
    const auto rank = static_cast<std::uint32_t>(i);
    EXPECT_TRUE(says(failure_of(member, 1), "lost the switch above at 127.0.0.1")) << i;
    EXPECT_EQ(sum(member, 10 + rank, 0, 5), 5u) << "goes on without it";
    EXPECT_EQ(member.join(3, 4, rank), Error::no_tree);
  });
}

TEST(Tree, LosesAnInnerSwitch) {
  const Tree tree({4, 2});
  Company members(tree, 4);
  members.each([](Member& member, std::size_t i) {
    const auto rank = static_cast<std::uint32_t>(i);
    ASSERT_EQ(member.join(10 + rank % 2, 2, rank / 2), Error::none) << "of those under one inner switch";
  });
  tree.inner[0]->stop();
  members.each([&](Member& member, std::size_t i) {
    const auto rank = static_cast<std::uint32_t>(i);
    const std::string why = failure_of(member, 1);
    EXPECT_TRUE(says(why, i % 2 == 0 ? "lost the switch above at" : "lost the switch at"))
        << i << ": " << why;
    if (i % 2 == 0)
      EXPECT_TRUE(says(failure_of(member, 10), "lost the switch above at")) << i;
    else
      EXPECT_EQ(sum(member, 11, 0, rank), 4u) << "the others have theirs";
  });
}

TEST(Tree, LosesALeaf) {
  Tree tree({2});
  Company members(tree, 4);
  tree.leaves[1]->stop();
  for (const std::size_t i : {0U, 2U})
    EXPECT_TRUE(says(failure_of(members[i], 1), "lost the switch at 127.0.0.1"));
  for (const std::size_t i : {1U, 3U}) EXPECT_TRUE(says(failure_of(members[i], 1), "the switch ends"));
}

TEST(Tree, IsWholeAgainWhenItsRootIsBack) {
  aggregation::Settings settings;
  auto root = std::make_unique<Switch>(settings);
  const tcp::Place place = tcp::place_in(root->name());
  settings.parent = place;
  Switch leaf(settings), other_leaf(settings);
  for (int round = 0; round < 2; ++round) {
    in_threads(2, [&](std::size_t i) {
      Member member(i == 0 ? leaf.name() : other_leaf.name(), 1, static_cast<std::uint32_t>(i));
      ASSERT_EQ(member.join(here, 2, static_cast<std::uint32_t>(i)), Error::none);
      EXPECT_EQ(sum(member, here, 0, 4), 8u);
    });
    if (round == 1) break;
    root.reset();
    aggregation::Settings again;
    root = std::make_unique<Switch>(again, place);
  }
}

/// It passes on what its hosts say: the group is over, and nothing else.
TEST(Tree, KeepsASwitchWhoseGroupGrowsAfterTheVerdict) {
  const Tree tree({});
  Member child(tree.place_of(0), wire::Hello{.is_switch = 1});
  const auto join = [&](std::uint32_t number, std::uint32_t name, std::uint32_t ranks) {
    child.send_value(wire::FrameKind::join, number, wire::Join{7, name, 2, ranks, 0, Error::none, 0});
  };
  join(1, here, 1);
  join(1, here, 2);
  EXPECT_EQ(child.verdict(1).error, Error::none);
  join(1, here, 1);
  EXPECT_TRUE(says(failure_of(child, 1), "more have joined"));
  join(2, here, 2);
  EXPECT_EQ(child.verdict(2).error, Error::none);
  join(3, here, 2);
  EXPECT_EQ(child.verdict(3).error, Error::invalid) << "there is one of this name";
}

}  // namespace
}  // namespace hocket::harness
