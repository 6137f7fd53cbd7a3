// Messages over a network (transports/mpi) that delays and reorders: ranks are threads, the network is fake.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "harness/message_rounds.hpp"
#include "harness/one_node.hpp"
#include "harness/seed.hpp"
#include "transports/fake/wire.hpp"
#include "transports/mpi/messages.hpp"

namespace hocket::transports {
namespace {

using harness::all;
using harness::Buffer;
using harness::in_threads;
using harness::Mates;
using harness::Near;
using harness::Way;
using harness::world;
using mpi::Messages;
using mpi::Network;

struct Weather {
  double delay;
  double pending;
  Near near = Near::not_at_all;
};

class MessagesUnderDelays : public testing::TestWithParam<Weather> {};

TEST_P(MessagesUnderDelays, CarryAllSizesInOrder) {
  constexpr Rank ranks = 3;
  const std::uint64_t seed = harness::test_seed();
  SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
  const Way way{{.seed = seed, .delay = GetParam().delay}, GetParam().near};
  const std::size_t most_bytes = way.near == Near::by_mail_and_stages ? 1'500'000 : 40'000;
  in_threads(ranks, way, 10'000, [&](Rank me, Network& network) {
    harness::carry_all_sizes_in_order(me, ranks, network, seed, GetParam().pending, most_bytes);
  });
}

TEST_P(MessagesUnderDelays, KeepOperationsApart) {
  constexpr Rank ranks = 3;
  const std::uint64_t seed = harness::test_seed();
  SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
  const Way way{{.seed = seed, .delay = GetParam().delay}, GetParam().near};
  in_threads(ranks, way, 10'000,
             [&](Rank me, Network& network) { harness::keep_operations_apart(me, ranks, network, seed); });
}

std::string name_of(const testing::TestParamInfo<Weather>& info) {
  constexpr std::array<const char*, 4> near{"", "with_mail", "with_loans", "with_stages"};
  return "delay" + std::to_string(static_cast<int>(info.param.delay * 100)) +
         near[static_cast<std::size_t>(info.param.near)];
}

INSTANTIATE_TEST_SUITE_P(Weather, MessagesUnderDelays,
                         testing::Values(Weather{0, 0}, Weather{0.3, 0.3}, Weather{0.8, 0.2},
                                         Weather{0, 0, Near::by_mail}, Weather{0.3, 0.3, Near::by_mail},
                                         Weather{0, 0, Near::by_mail_and_loans},
                                         Weather{0.3, 0.3, Near::by_mail_and_loans},
                                         Weather{0, 0, Near::by_mail_and_stages},
                                         Weather{0.3, 0.3, Near::by_mail_and_stages}),
                         name_of);

/// What does not fit the mailbox goes through the port, and who waits for it there asks there.
TEST(Messages, GoThroughThePortWhereAMailboxIsFull) {
  constexpr std::uint32_t many = 3 * shm::Mailbox::slots;
  Mates mates;
  Messages &sender = mates.one, &receiver = mates.two;
  for (std::uint32_t i = 1; i <= many; ++i) {
    sender.begin(i, 5, {});
    Buffer out(8, static_cast<int>(i), false);
    Transfer t = out.with(1);
    ASSERT_EQ(sender.advance_send(t), Status::ok);
  }
  for (std::uint32_t i = many; i >= 1; --i) {
    receiver.begin(i, 5, {});
    Buffer in(8, 255, false);
    Transfer t = in.with(0);
    for (std::uint32_t turn = 0; turn <= many / mpi::Port::places && !t.started; ++turn) {
      receiver.take_in();
      receiver.advance_recv(t);
    }
    ASSERT_TRUE(t.started) << i;
    ASSERT_TRUE(in.holds(static_cast<int>(i)));
  }
}

/// Their envelope is in it, and what follows comes by the port.
TEST(Messages, WakeAMateAlsoWhereTheyAreTooLongForItsMailbox) {
  constexpr std::size_t by_mail = shm::Mailbox::longest - sizeof(mpi::Envelope);
  constexpr std::size_t in_one_packet = mpi::packet_bytes - sizeof(mpi::Envelope);
  Mates mates;
  std::uint32_t instance = 0;
  for (const std::size_t bytes : {by_mail, by_mail + 1, in_one_packet, in_one_packet + 1}) {
    SCOPED_TRACE(bytes);
    mates.one.begin(++instance, 5, {});
    mates.two.begin(instance, 5, {});
    Buffer out(bytes, static_cast<int>(instance), false), in(bytes, 255, false);
    Transfer sent = out.with(1), got = in.with(0);
    Status receiving = mates.two.advance_recv(got);
    const Blocker before = mates.two.recv_blocker(got);
    ASSERT_NE(before.word, nullptr);
    Status sending = mates.one.advance_send(sent);
    EXPECT_NE(*static_cast<const std::uint32_t*>(before.word), before.seen) << "a sleeper would not wake up";
    while (sending == Status::pending || receiving == Status::pending) {
      mates.one.take_in();
      mates.two.take_in();
      if (sending == Status::pending) sending = mates.one.advance_send(sent);
      if (receiving == Status::pending) receiving = mates.two.advance_recv(got);
    }
    ASSERT_EQ(sending, Status::ok);
    ASSERT_EQ(receiving, Status::ok);
    EXPECT_TRUE(in.holds(static_cast<int>(instance)));
  }
}

/// Who lacks what only memory will show may sleep; who lacks anything else has to ask.
TEST(Messages, SayWhatTheyWaitFor) {
  constexpr std::size_t several_packets = 3 * mpi::packet_bytes;
  Mates mates({.buffered_bytes = 0});
  Messages &one = mates.one, &two = mates.two;
  one.begin(1, 5, {});
  two.begin(1, 5, {});
  Buffer in(8, 255, false), far(8, 255, false), out(8, 1, false);
  Transfer near_one = in.with(0), far_one = far.with(2), sent = out.with(1);
  EXPECT_EQ(two.advance_recv(near_one), Status::pending);
  const Blocker before = two.recv_blocker(near_one);
  ASSERT_NE(before.word, nullptr);
  Messages other(mates.second, {8, 12}, mates.members);  // another operation of this process
  other.begin(1, 5, {});
  EXPECT_EQ(other.advance_recv(far_one), Status::pending);
  EXPECT_EQ(other.recv_blocker(far_one).word, nullptr);
  EXPECT_EQ(two.recv_blocker(near_one).word, nullptr) << "the other one would be asked about too seldom";
  other.abandon();
  EXPECT_EQ(two.recv_blocker(near_one).word, before.word);
  ASSERT_EQ(one.advance_send(sent), Status::ok);
  EXPECT_NE(two.recv_blocker(near_one).seen, before.seen) << "a sleeper would not wake up";
  two.take_in();
  EXPECT_EQ(two.advance_recv(near_one), Status::ok);

  Buffer long_out(several_packets, 2, false), long_in(several_packets, 255, false);
  Transfer long_sent = long_out.with(1), long_got = long_in.with(0);
  EXPECT_EQ(one.advance_send(long_sent), Status::pending);
  two.take_in();
  EXPECT_EQ(two.advance_recv(long_got), Status::pending);  // its data are under way
  EXPECT_EQ(two.recv_blocker(long_got).word, nullptr);
  for (int turn = 0; turn < 3 && !long_got.started; ++turn) {
    two.take_in();
    two.advance_recv(long_got);
  }
  EXPECT_TRUE(long_in.holds(2));
  one.take_in();
  EXPECT_EQ(one.advance_send(long_sent), Status::ok);

  Transfer late = in.with(0);
  two.begin(2, 5, {});
  EXPECT_EQ(two.advance_recv(late), Status::pending);
  EXPECT_NE(two.recv_blocker(late).word, nullptr);
  mates.second.close();
  EXPECT_EQ(two.recv_blocker(late).word, nullptr);
}

/// Who has been told that a message comes by the port does not sleep on its mailbox.
TEST(Messages, AreAskedForAtThePortWhereTheyAreAnnounced) {
  Mates mates;
  Messages &sender = mates.one, &receiver = mates.two;
  receiver.begin(100, 5, {});
  Buffer out(8, 1, false), in(8, 255, false);
  Transfer got = in.with(0);
  EXPECT_EQ(receiver.advance_recv(got), Status::pending);
  for (std::uint32_t i = 1; i <= shm::Mailbox::slots; ++i) {
    EXPECT_NE(receiver.recv_blocker(got).word, nullptr);
    sender.begin(i, 5, {});
    Transfer t = out.with(1);
    ASSERT_EQ(sender.advance_send(t), Status::ok);
  }
  sender.begin(100, 5, {});
  Transfer one_more = out.with(1);
  ASSERT_EQ(sender.advance_send(one_more), Status::ok);
  EXPECT_EQ(receiver.recv_blocker(got).word, nullptr);
  receiver.take_in();
  EXPECT_EQ(receiver.advance_recv(got), Status::ok);
}

/// What has come for an operation, or a communicator, that this rank has not begun is kept.
TEST(Messages, MayComeBeforeTheirOperation) {
  fake::Wire wire(2, {});
  Network first(wire.port(0)), second(wire.port(1));
  const auto members = all(2);
  Messages sender(first, world, members);
  for (std::uint32_t i = 1; i <= 40; ++i) {  // more than there are places to listen in
    sender.begin(i, 5, {});
    Buffer out(8, static_cast<int>(i), false);
    Transfer t = out.with(1);
    ASSERT_EQ(sender.advance_send(t), Status::ok);
    second.progress();
  }
  Messages receiver(second, world, members);
  for (std::uint32_t i = 40; i >= 1; --i) {
    receiver.begin(i, 5, {});
    Buffer in(8, 255, false);
    Transfer t = in.with(0);
    ASSERT_EQ(receiver.advance_recv(t), Status::ok);
    ASSERT_TRUE(in.holds(static_cast<int>(i)));
  }
}

/// What nobody will ask for is not kept, whether it has come already or comes later.
TEST(Messages, MayBeDropped) {
  fake::Wire wire(2, {});
  Network first(wire.port(0)), second(wire.port(1));
  const auto members = all(2);
  Messages sender(first, world, members), receiver(second, world, members);
  for (const bool comes_first : {true, false}) {
    const std::uint32_t instance = comes_first ? 1 : 2;
    sender.begin(instance, 5, {});
    receiver.begin(instance, 5, {});
    if (!comes_first) receiver.drop(0);
    for (int i = 1; i <= 2; ++i) {
      Buffer out(8, i, false);
      Transfer t = out.with(1);
      ASSERT_EQ(sender.advance_send(t), Status::ok);
    }
    second.progress();
    if (comes_first) receiver.drop(0);
    Buffer in(8, 255, false);
    Transfer t = in.with(0);
    ASSERT_EQ(receiver.advance_recv(t), Status::ok);
    EXPECT_TRUE(in.holds(2)) << "the next one";
    receiver.begin(instance, 5, {});
    Transfer again = in.with(0);
    EXPECT_EQ(receiver.advance_recv(again), Status::pending) << "the first one has gone";
    receiver.abandon();
  }
}

/// Where nothing has come, who only waits looks again before it goes back to its schedule; who computes
/// between two looks does not.
TEST(Messages, AreLookedForAFewTimesByWhoWaits) {
  fake::Wire wire(2, {});
  Network network(wire.port(0));
  const auto members = all(2);
  for (const bool stays : {true, false}) {
    Messages receiver(network, world, members, stays);
    receiver.begin(1, 5, {});
    Buffer in(8, 255, false);
    Transfer t = in.with(1);
    EXPECT_EQ(receiver.advance_recv(t), Status::pending);
    const std::uint64_t before = wire.looks();
    receiver.take_in();
    EXPECT_EQ(wire.looks() - before, stays ? 4U : 1U);
  }
}

TEST(Messages, SayWhatAnotherRankCalls) {
  fake::Wire wire(2, {});
  Network first(wire.port(0)), second(wire.port(1));
  const auto members = all(2);
  Messages sender(first, world, members), receiver(second, world, members);
  Buffer out(8, 1, false), in(8, 255, false), longer(9, 255, false);
  Transfer sent = out.with(1), got = in.with(0);
  sender.begin(1, 5, {42, 8, 1});
  receiver.begin(1, 6, {});
  ASSERT_EQ(sender.advance_send(sent), Status::ok);
  receiver.take_in();
  ASSERT_EQ(receiver.advance_recv(got), Status::mismatch);
  EXPECT_FALSE(receiver.disagreement()->same_call);
  EXPECT_EQ(receiver.disagreement()->call.call, 42U);
  EXPECT_EQ(receiver.disagreement()->call.root, 1);

  Transfer again = out.with(1), too_long = longer.with(0);
  sender.begin(2, 5, {});
  receiver.begin(2, 5, {});
  ASSERT_EQ(sender.advance_send(again), Status::ok);
  receiver.take_in();
  ASSERT_EQ(receiver.advance_recv(too_long), Status::mismatch);
  EXPECT_TRUE(receiver.disagreement()->same_call);
  EXPECT_EQ(receiver.disagreement()->sent, 8U);
  EXPECT_EQ(receiver.disagreement()->expected, 9U);
}

/// Nobody waits for a message of the other call.
TEST(Messages, FindOtherCallsOfTheirOperation) {
  fake::Wire wire(3, {});
  Network first(wire.port(0)), second(wire.port(1)), third(wire.port(2));
  const auto members = all(3);
  Messages one(first, world, members), two(second, world, members), three(third, world, members);
  one.begin(1, 5, {42, 8, 1});
  two.begin(1, 6, {});
  three.begin(2, 6, {});
  one.ask(1);  // rank 0 waits for rank 1, in another call
  one.ask(2);  // and for rank 2, which is in a later one
  EXPECT_TRUE(two.finds_other_call());
  EXPECT_EQ(two.disagreement()->peer, 0);
  EXPECT_EQ(two.disagreement()->call.call, 42U);
  EXPECT_FALSE(three.finds_other_call());
  EXPECT_FALSE(one.finds_other_call());

  Buffer out(8, 1, false);
  Transfer sent = out.with(0);
  ASSERT_EQ(two.advance_send(sent), Status::ok);  // rank 0 waits for rank 2 at that time
  EXPECT_TRUE(one.finds_other_call());
  EXPECT_EQ(one.disagreement()->peer, 1);
}

/// Who looks at its messages is there; who does not may be busy, or gone.
TEST(Messages, AreAskedForAndAnswered) {
  fake::Wire wire(2, {});
  Network first(wire.port(0)), second(wire.port(1));
  const auto members = all(2);
  Messages one(first, world, members);
  one.begin(1, 5, {});
  one.ask(1);
  first.progress();
  EXPECT_EQ(one.answers_of(1), 0U);
  second.progress();  // also in no collective at all
  first.progress();
  EXPECT_EQ(one.answers_of(1), 1U);
  EXPECT_EQ(one.answers_of(0), 0U);
  second.progress();
  EXPECT_EQ(one.answers_of(1), 1U);  // an answer is not answered
}

TEST(Messages, TagsAndNumbersStartAgain) {
  constexpr std::size_t bytes = mpi::packet_bytes;
  fake::Wire wire(2, {.last_tag = 3});
  Network first(wire.port(0)), second(wire.port(1));
  const auto members = all(2);
  Messages sender(first, world, members), receiver(second, world, members);
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::uint32_t instance = 0xfffffff8U + i;
    sender.begin(instance, 5, {});
    receiver.begin(instance, 5, {});
    Buffer out(bytes, static_cast<int>(i), false), in(bytes, 255, false);
    Transfer sent = out.with(1), got = in.with(0);
    Status a = Status::pending, b = Status::pending;
    while (a == Status::pending || b == Status::pending) {
      sender.take_in();
      receiver.take_in();
      if (a == Status::pending) a = sender.advance_send(sent);
      if (b == Status::pending) b = receiver.advance_recv(got);
    }
    ASSERT_EQ(a, Status::ok);
    ASSERT_EQ(b, Status::ok);
    ASSERT_TRUE(in.holds(static_cast<int>(i)));
  }
}

/// An envelope with so much data in it that the MPI may ask the receiver first: only where the receiver need
/// not wait for it, and the sender stays.
TEST(Messages, SendersSeeToLongPacketsUntilTheyHaveLeft) {
  struct Kind {
    std::size_t longest_heard;
    bool stays;
  };
  constexpr std::size_t bytes = mpi::unattended_bytes + 1;
  for (const Kind& kind :
       {Kind{mpi::unattended_bytes, true}, Kind{mpi::packet_bytes, false}, Kind{mpi::packet_bytes, true}}) {
    fake::Wire wire(2, {.buffered_bytes = mpi::unattended_bytes, .longest_heard = kind.longest_heard});
    Network first(wire.port(0)), second(wire.port(1));
    const auto members = all(2);
    Messages sender(first, world, members, kind.stays), receiver(second, world, members);
    sender.begin(1, 5, {});
    receiver.begin(1, 5, {});
    Buffer out(bytes, 1, false), in(bytes, 255, false);
    Transfer sent = out.with(1), got = in.with(0);
    ASSERT_EQ(sender.advance_send(sent), Status::pending);
    receiver.take_in();
    const bool in_one_message = kind.stays && kind.longest_heard > mpi::unattended_bytes;
    if (!in_one_message) {
      ASSERT_EQ(receiver.advance_recv(got), Status::pending);
      receiver.take_in();
    }
    EXPECT_EQ(receiver.advance_recv(got), Status::ok);
    EXPECT_TRUE(in.holds(1));
    sender.take_in();
    EXPECT_EQ(sender.advance_send(sent), Status::ok);
  }
}

/// The MPI may still read it when the next one begins.
TEST(Messages, AnAbandonedPacketIsNotWrittenOver) {
  constexpr std::size_t bytes = mpi::eager_bytes + 1;
  fake::Wire wire(2, {.buffered_bytes = 0, .reads_abandoned = true});
  Network first(wire.port(0)), second(wire.port(1));
  const auto members = all(2);
  Messages sender(first, world, members), receiver(second, world, members);
  Buffer given_up(bytes, 1, false), next(bytes, 2, false), in(bytes, 255, false);
  Transfer lost = given_up.with(1), sent = next.with(1), got = in.with(0);
  sender.begin(1, 5, {});
  ASSERT_EQ(sender.advance_send(lost), Status::pending);
  sender.abandon();
  sender.begin(2, 5, {});
  ASSERT_EQ(sender.advance_send(sent), Status::pending);
  receiver.begin(1, 5, {});
  receiver.take_in();
  ASSERT_EQ(receiver.advance_recv(got), Status::ok);
  EXPECT_TRUE(in.holds(1));
}

TEST(Messages, AnAbandonedReceiveWritesNoMore) {
  constexpr std::size_t bytes = 50'000;  // in parts
  fake::Wire wire(2, {});
  Network first(wire.port(0), 10'000), second(wire.port(1), 10'000);
  const auto members = all(2);
  Messages sender(first, world, members);
  Buffer out(bytes, 1, false), in(bytes, 255, false);
  Transfer sent = out.with(1), got = in.with(0);
  sender.begin(1, 5, {});
  ASSERT_EQ(sender.advance_send(sent), Status::pending);
  {
    Messages receiver(second, world, members);
    receiver.begin(1, 5, {});
    receiver.take_in();
    ASSERT_EQ(receiver.advance_recv(got), Status::pending);
    receiver.take_in();
    sender.take_in();
    ASSERT_EQ(sender.advance_send(sent), Status::pending);  // the second part is on its way
    ASSERT_EQ(receiver.advance_recv(got), Status::pending);
    receiver.abandon();
  }
  const std::vector<std::byte> before = in.memory;
  sender.take_in();
  EXPECT_EQ(sender.advance_send(sent), Status::pending);
  second.progress();
  EXPECT_EQ(in.memory, before);
}

/// Its memory may have gone.
TEST(FakeWire, ReadsNoMoreFromAnAbandonedSend) {
  fake::Wire wire(2, {.buffered_bytes = 0});
  const auto sender = wire.port(0), receiver = wire.port(1);
  mpi::Port::Ticket sent = 0, received = 0;
  int out = 42, in = 0;
  ASSERT_EQ(sender->send(&out, sizeof out, 1, 5, sent), Status::ok);
  sender->abandon(sent);
  ASSERT_EQ(receiver->receive(&in, sizeof in, 0, 5, received), Status::ok);
  ASSERT_EQ(receiver->look(), Status::pending);
  EXPECT_EQ(receiver->test(received), Status::pending);
  EXPECT_EQ(in, 0);
}

TEST(Network, TellsMembersThatACommunicatorIsGivenUp) {
  fake::Wire wire(3, {});
  Network first(wire.port(0)), second(wire.port(1)), third(wire.port(2));
  const std::vector<Rank> members = {0, 1};
  first.fail(world, members, "the reason");
  second.progress();
  third.progress();
  EXPECT_TRUE(first.failed(world));
  EXPECT_TRUE(second.failed(world));
  EXPECT_EQ(second.failure(world), "the reason");
  EXPECT_FALSE(second.failed({8, 12}));
  EXPECT_FALSE(third.failed(world));
}

TEST(Network, ThatBreaksFailsWhatIsUnderWay) {
  fake::Wire wire(2, {.fail_after = 1});
  Network first(wire.port(0));
  const auto members = all(2);
  Messages via(first, world, members);
  via.begin(1, 5, {});
  Buffer out(8, 1, false);
  Transfer one = out.with(1), two = out.with(1);
  EXPECT_EQ(via.advance_send(one), Status::ok);
  EXPECT_EQ(first.lost(), -1);
  EXPECT_EQ(via.advance_send(two), Status::failed);
  EXPECT_EQ(first.lost(), 1);
}

TEST(Network, ThatIsClosedFailsWhatComesLater) {
  fake::Wire wire(2, {});
  Network first(wire.port(0));
  const auto members = all(2);
  Messages via(first, world, members);
  via.begin(1, 5, {});
  Buffer in(8, 1, false), large(5000, 1, false);
  Transfer leaving = large.with(1);
  EXPECT_EQ(via.advance_send(leaving), Status::pending);
  first.close();
  Transfer got = in.with(1), sent = in.with(1);
  EXPECT_EQ(via.advance_recv(got), Status::failed);
  EXPECT_EQ(via.advance_send(sent), Status::failed);
}

}  // namespace
}  // namespace hocket::transports
