// Long messages between ranks of a node that are read where their sender has them (transports/mpi/loans.hpp).
// Ranks are objects of one thread where the order of what they do matters, threads otherwise.
#include <gtest/gtest.h>

#include "harness/one_node.hpp"
#include "transports/mpi/messages.hpp"

namespace hocket::transports {
namespace {

using harness::Buffer;
using harness::Mates;
using harness::OneProcess;
using mpi::Messages;

constexpr std::size_t bytes = 3 * mpi::packet_bytes;

/// Two ranks of one node that lend each other what is longer than a packet.
struct Lenders : Mates {
  explicit Lenders(bool readable = true)
      : of_one(node.lend(first, mpi::packet_bytes, readable)),
        of_two(node.lend(second, mpi::packet_bytes, readable)) {
    begin(1);
  }
  void begin(std::uint32_t instance) {
    one.begin(instance, 5, {});
    two.begin(instance, 5, {});
  }
  OneProcess &of_one, &of_two;
};

/// Turns of one rank after the other until the message is there and its sender free, or nothing helps.
bool come_through(Lenders& mates, Transfer& sent, Transfer& got) {
  for (int turn = 0; turn < 10 && !(sent.started && got.started); ++turn) {
    mates.one.take_in();
    if (!sent.started) mates.one.advance_send(sent);
    mates.two.take_in();
    if (!got.started) mates.two.advance_recv(got);
  }
  return sent.started && got.started;
}

TEST(MessageLoans, AreReadWhereTheyAreAndReturned) {
  Lenders mates;
  Buffer out(bytes, 1, false), in(bytes, 255, true);
  Transfer sent = out.with(1), got = in.with(0);
  EXPECT_EQ(mates.one.advance_send(sent), Status::pending);
  mates.one.take_in();
  EXPECT_EQ(mates.one.advance_send(sent), Status::pending) << "nobody has read it yet";
  const Blocker before = mates.one.send_blocker(sent);
  ASSERT_NE(before.word, nullptr) << "memory will show when it comes back";
  mates.two.take_in();
  EXPECT_EQ(mates.two.advance_recv(got), Status::ok);
  EXPECT_TRUE(in.holds(1));
  EXPECT_NE(mates.one.send_blocker(sent).seen, before.seen) << "a sleeper would not wake up";
  mates.one.take_in();
  EXPECT_EQ(mates.one.advance_send(sent), Status::ok);
  EXPECT_EQ(sent.done, bytes);
  EXPECT_EQ(mates.of_one.admitted, 1);
  EXPECT_EQ(mates.of_two.asked, 1);
  EXPECT_EQ(mates.second.from_mates().read, 1U);
}

/// Shorter ones, those in several pieces and those to other nodes go as they do without.
TEST(MessageLoans, AreOfLongMessagesInOnePiece) {
  Lenders mates;
  Buffer brief(mpi::packet_bytes - 1, 1, false), apart(bytes, 2, true), in(mpi::packet_bytes - 1, 255, false),
      in_apart(bytes, 255, false);
  Transfer sent = brief.with(1), got = in.with(0);
  ASSERT_TRUE(come_through(mates, sent, got));
  EXPECT_TRUE(in.holds(1));
  Transfer sent_apart = apart.with(1), got_apart = in_apart.with(0);
  ASSERT_TRUE(come_through(mates, sent_apart, got_apart));
  EXPECT_TRUE(in_apart.holds(2));
  Buffer far(bytes, 3, false);
  Transfer sent_far = far.with(2);
  EXPECT_EQ(mates.one.advance_send(sent_far), Status::pending);
  EXPECT_EQ(mates.second.from_mates().read, 0U);
  mates.one.abandon();
}

/// A mate that cannot read says so, gets it by the port, and is lent nothing again.
TEST(MessageLoans, GoThroughThePortWhereTheyCannotBeRead) {
  Lenders mates(false);
  for (int i = 1; i <= 3; ++i) {
    Buffer out(bytes, i, false), in(bytes, 255, true);
    Transfer sent = out.with(1), got = in.with(0);
    ASSERT_TRUE(come_through(mates, sent, got)) << i;
    EXPECT_TRUE(in.holds(i));
  }
  EXPECT_EQ(mates.second.from_mates().unreadable, 1U);
}

/// Permissions may change, and some memory is not the kernel's to read for others.
TEST(MessageLoans, GoThroughThePortFromTheReadOnThatFails) {
  Lenders mates;
  for (int i = 1; i <= 3; ++i) {
    mates.of_two.fails = i >= 2;
    Buffer out(bytes, i, false), in(bytes, 255, false);
    Transfer sent = out.with(1), got = in.with(0);
    ASSERT_TRUE(come_through(mates, sent, got)) << i;
    EXPECT_TRUE(in.holds(i));
  }
  EXPECT_EQ(mates.second.from_mates().read, 1U);
  EXPECT_EQ(mates.second.from_mates().unreadable, 1U);
}

/// The mailbox takes loans and returns only as long as there is room.
TEST(MessageLoans, ComeThroughBesideFullMailboxes) {
  Lenders mates;
  Buffer word(8, 9, false);
  for (std::uint32_t i = 1; i < shm::Mailbox::slots; ++i)  // one place is left
    for (Messages* const sender : {&mates.one, &mates.two}) {
      sender->begin(100 + i, 5, {});
      Transfer t = word.with(sender == &mates.one ? 1 : 0);
      ASSERT_EQ(sender->advance_send(t), Status::ok);
    }
  mates.begin(1);
  Buffer lent(bytes, 1, false), second(bytes, 2, false), in(bytes, 255, false), in_second(bytes, 255, false);
  Transfer sent = lent.with(1), got = in.with(0), sent_second = second.with(1),
           got_second = in_second.with(0);
  EXPECT_EQ(mates.one.advance_send(sent), Status::pending);
  EXPECT_EQ(mates.one.advance_send(sent_second), Status::pending) << "by the port: the mailbox is full";
  mates.two.begin(200, 5, {});
  Transfer fills = word.with(0);  // rank 0's mailbox has no room for the loan's return
  ASSERT_EQ(mates.two.advance_send(fills), Status::ok);
  mates.two.begin(1, 5, {});
  for (int turn = 0; turn < 20 && !(got.started && got_second.started); ++turn) {
    mates.two.take_in();
    if (!got.started) mates.two.advance_recv(got);
    if (!got_second.started) mates.two.advance_recv(got_second);
    if (sent_second.started) continue;
    mates.first.progress();
    mates.one.advance_send(sent_second);
  }
  EXPECT_TRUE(in.holds(1));
  EXPECT_TRUE(in_second.holds(2));
  EXPECT_EQ(mates.second.from_mates().read, 1U);
  for (int turn = 0; turn < 20 && !sent.started; ++turn) {
    mates.one.take_in();
    mates.one.advance_send(sent);
  }
  EXPECT_TRUE(sent.started);
}

/// What returns of a loan that was given up means nothing to the next one.
TEST(MessageLoans, MayBeGivenUp) {
  Lenders mates;
  Buffer out(bytes, 1, false), in(bytes, 255, false), next(bytes, 2, false);
  Transfer sent = out.with(1), got = in.with(0);
  EXPECT_EQ(mates.one.advance_send(sent), Status::pending);
  mates.one.abandon();
  mates.one.begin(2, 5, {});
  Transfer second = next.with(1);
  EXPECT_EQ(mates.one.advance_send(second), Status::pending);
  mates.two.take_in();
  EXPECT_EQ(mates.two.advance_recv(got), Status::ok);
  mates.one.take_in();
  EXPECT_EQ(mates.one.advance_send(second), Status::pending) << "the first one's return";
  mates.first.close();
  EXPECT_EQ(mates.one.advance_send(second), Status::failed);
}

TEST(MessageLoans, OfAnotherCallAreAMismatch) {
  Lenders mates;
  mates.two.begin(1, 6, {});
  Buffer out(bytes, 1, false), in(bytes, 255, false);
  Transfer sent = out.with(1), got = in.with(0);
  EXPECT_EQ(mates.one.advance_send(sent), Status::pending);
  mates.two.take_in();
  EXPECT_EQ(mates.two.advance_recv(got), Status::mismatch);
  EXPECT_EQ(mates.of_two.reads, 0);
  mates.one.abandon();
}

}  // namespace
}  // namespace hocket::transports
