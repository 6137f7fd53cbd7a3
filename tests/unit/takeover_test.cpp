// What ranks tell each other when a worker has gone (engine/handover): which operations have ended, and who
// hears it.
#include "engine/handover/takeover.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine/handover/registry.hpp"
#include "transports/fake/wire.hpp"

namespace hocket::engine::handover {
namespace {

constexpr std::uint32_t started = 1U << 31U;  // as CallSequence numbers operations

TEST(Account, ComesBackAsItWasTold) {
  const Account back = decode_account(encode(Account{started | 9, {started | 8, started | 3}, true}));
  EXPECT_EQ(back.last, started | 9);
  EXPECT_EQ(back.unfinished, (std::vector{started | 8, started | 3}));
  EXPECT_TRUE(back.is_answer);
  EXPECT_TRUE(decode_account(encode(Account{})).unfinished.empty());
}

TEST(Account, IsRefusedWhereItIsNone) {
  const std::vector<std::byte> bytes(10);
  for (const std::size_t length : {0U, 4U, 7U, 10U})
    EXPECT_THROW(decode_account(std::span(bytes).first(length)), Error) << length;
  EXPECT_THROW(encode(Account{1, std::vector<std::uint32_t>(5000), false}), Error);
}

TEST(Takeover, IsAgreedWhenAllHaveSaidSomething) {
  Takeover takeover(3);
  EXPECT_EQ(takeover.awaited(), 0);
  takeover.hear(2, {});
  takeover.hear(0, {});
  EXPECT_EQ(takeover.awaited(), 1);
  takeover.hear(7, {});  // nobody
  EXPECT_FALSE(takeover.is_agreed());
  takeover.hear(1, {});
  EXPECT_TRUE(takeover.is_agreed());
}

TEST(Takeover, EndsWhatHasEndedAnywhere) {
  Takeover takeover(3);
  takeover.hear(0, {started | 5, {started | 5, started | 4, started | 2}});
  takeover.hear(1, {started | 4, {started | 4}});  // 2 has ended here, 5 has not begun
  takeover.hear(2, {});                            // nothing has begun
  EXPECT_TRUE(takeover.has_ended(started | 1));
  EXPECT_TRUE(takeover.has_ended(started | 2));
  EXPECT_TRUE(takeover.has_ended(started | 3));
  EXPECT_FALSE(takeover.has_ended(started | 4));
  EXPECT_FALSE(takeover.has_ended(started | 5));
  EXPECT_FALSE(takeover.has_ended(started | 6));
}

TEST(Takeover, KeepsTheFirstThatARankSays) {
  Takeover takeover(1);
  takeover.hear(0, {started | 2, {started | 2}});
  takeover.hear(0, {started | 2, {}});
  EXPECT_FALSE(takeover.has_ended(started | 2));
}

TEST(Takeover, ComparesNumbersThatHaveWrapped) {
  Takeover takeover(1);
  takeover.hear(0, {started | 3, {started | 0x7fffffff}});
  EXPECT_TRUE(takeover.has_ended(started | 0x7ffffffe));
  EXPECT_FALSE(takeover.has_ended(started | 0x7fffffff));
  EXPECT_TRUE(takeover.has_ended(started | 2));
  EXPECT_FALSE(takeover.has_ended(started | 4));
}

/// Two ranks that tell each other.
class Registries : public ::testing::Test {
 protected:
  struct Entry final : Registry::Entry {
    explicit Entry(const Registry::Id& i) : name(i) {}
    const Registry::Id& id() const noexcept override { return name; }
    void hear(Rank from, const Account& account) noexcept override {
      heard += "from " + std::to_string(from) + ": " + std::to_string(account.last & ~started) +
               (account.is_answer ? " answer; " : "; ");
    }
    Registry::Id name;
    std::string heard;
  };

  void say(std::size_t from, const Registry::Id& id, const Account& account) {
    const std::vector<Rank> both{0, 1};
    EXPECT_TRUE(networks[from]->notify(id, both, encode(account)));
  }
  void hear_all() {
    for (int turn = 0; turn < 4; ++turn)
      for (std::size_t rank = 0; rank < 2; ++rank) {
        networks[rank]->progress();
        registries[rank].hear(*networks[rank]);
      }
  }

  transports::fake::Wire wire{2, {}};
  std::vector<std::unique_ptr<transports::mpi::Network>> networks = [this] {
    std::vector<std::unique_ptr<transports::mpi::Network>> made;
    for (Rank rank = 0; rank < 2; ++rank)
      made.push_back(std::make_unique<transports::mpi::Network>(wire.port(rank)));
    return made;
  }();
  Registry registries[2];
  const Registry::Id a{1, 2}, b{3, 4};
};

TEST_F(Registries, TellWhoIsConcerned) {
  Entry one(a), other(b);
  registries[1].add(one);
  registries[1].add(other);
  say(0, a, {started | 7, {}});
  hear_all();
  EXPECT_EQ(one.heard, "from 0: 7; ");
  EXPECT_EQ(other.heard, "");
}

TEST_F(Registries, KeepWhatComesEarly) {
  say(0, a, {started | 7, {}});
  hear_all();
  Entry one(a), again(a);
  registries[1].add(one);
  registries[1].add(again);
  EXPECT_EQ(one.heard, "from 0: 7; ");
  EXPECT_EQ(again.heard, "") << "it is told once";
}

TEST_F(Registries, AnswerForWhoHasLeft) {
  Entry asks(a), left(a);
  registries[0].add(asks);
  registries[1].add(left);
  registries[1].remove(left, started | 9);
  say(0, a, {started | 9, {started | 9}});
  hear_all();
  EXPECT_EQ(asks.heard, "from 1: 9 answer; ");
  EXPECT_EQ(left.heard, "");
}

TEST_F(Registries, DoNotAnswerAnswers) {
  Entry one(a), other(a);
  registries[0].add(one);
  registries[0].remove(one, started | 9);
  registries[1].add(other);
  registries[1].remove(other, started | 9);
  say(0, a, {started | 9, {}, true});
  hear_all();
  EXPECT_FALSE(networks[0]->any_notice());
  EXPECT_FALSE(networks[1]->any_notice());
}

TEST_F(Registries, ForgetWhoHasStartedNothing) {
  Entry asks(a), left(a);
  registries[0].add(asks);
  registries[1].add(left);
  registries[1].remove(left, 0);
  say(0, a, {started | 1, {started | 1}});
  hear_all();
  EXPECT_EQ(asks.heard, "") << "it may come once more, and start what the other one waits for";
}

}  // namespace
}  // namespace hocket::engine::handover
