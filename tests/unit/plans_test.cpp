// The caches of what calls run: reused, bounded, least recently used ones given up, and nothing that is in
// use.
#include <gtest/gtest.h>

#include "engine/plans.hpp"
#include "engine/prepared.hpp"

namespace hocket::engine {
namespace {

ir::Request rooted(Rank root) {
  ir::Request request;
  request.collective = ir::Collective::bcast;
  request.ranks = 8;
  request.root = root;
  return request;
}

const algorithms::Algorithm& knomial() {
  return *algorithms::find(ir::Collective::bcast, "knomial");
}

Plans::Shared plan_of(Plans& plans, Rank root) {
  return plans.get(passes::plain(knomial()), rooted(root));
}

TEST(Plans, one_that_is_there_is_used_again) {
  Plans plans;
  const Plans::Shared first = plan_of(plans, 3);
  EXPECT_EQ(first, plan_of(plans, 3));
  EXPECT_NE(first, plan_of(plans, 4));
  EXPECT_EQ(plans.size(), 2u);
}

TEST(Plans, the_least_recently_used_one_is_given_up) {
  Plans plans(2);
  const std::weak_ptr<const executors::Plan> first = plan_of(plans, 0), second = plan_of(plans, 1);
  plan_of(plans, 0);
  plan_of(plans, 2);
  EXPECT_EQ(plans.size(), 2u);
  EXPECT_FALSE(first.expired());
  EXPECT_TRUE(second.expired());
}

TEST(Plans, one_in_use_outlives_the_cache) {
  Plans plans(1);
  const Plans::Shared used = plan_of(plans, 0);
  plan_of(plans, 1);
  EXPECT_EQ(used.use_count(), 1);
  EXPECT_FALSE(used->schedule.ops.empty());
}

CallKind of_bytes(std::size_t bytes) {
  CallKind kind;
  kind.function = Function::allreduce;
  kind.bytes = bytes;
  return kind;
}

std::unique_ptr<Prepared> prepared_of(const CallKind& kind) {
  auto prepared = std::make_unique<Prepared>();
  prepared->kind = kind;
  return prepared;
}

TEST(PreparedCalls, forms_are_kept_apart) {
  Report report;
  PreparedCalls calls(report);
  CallKind kind = of_bytes(8);
  kind.form = Form::nonblocking;
  Prepared& prepared = calls.add(prepared_of(kind));
  EXPECT_EQ(calls.find(kind), &prepared);
  kind.form = Form::persistent;
  EXPECT_EQ(calls.find(kind), nullptr);
  EXPECT_EQ(kind.hash(), of_bytes(8).hash());
}

TEST(PreparedCalls, the_least_recently_used_one_is_given_up_unless_it_is_in_use) {
  Report report;
  PreparedCalls calls(report);
  ++calls.add(prepared_of(of_bytes(0))).users;
  for (std::size_t i = 1; i < PreparedCalls::capacity; ++i) calls.add(prepared_of(of_bytes(i)));
  calls.find(of_bytes(1));
  calls.add(prepared_of(of_bytes(1000)));
  EXPECT_EQ(calls.size(), PreparedCalls::capacity);
  EXPECT_NE(calls.find(of_bytes(0)), nullptr);
  EXPECT_NE(calls.find(of_bytes(1)), nullptr);
  EXPECT_EQ(calls.find(of_bytes(2)), nullptr);
}

}  // namespace
}  // namespace hocket::engine
