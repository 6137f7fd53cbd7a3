// Long messages between ranks of a node that go in parts through memory that both map
// (transports/shm/node_stages.hpp). Ranks are objects of one thread: the order of what they do matters.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <vector>

#include "harness/one_node.hpp"
#include "transports/mpi/messages.hpp"

namespace hocket::transports {
namespace {

using harness::Buffer;
using harness::Mates;
using harness::world;
using mpi::Messages;
using shm::NodeStages;

constexpr std::size_t whole = NodeStages::stage_bytes;
constexpr std::size_t longer = 2 * whole + NodeStages::area_bytes + 100;

struct Stagers : Mates {
  Stagers() {
    node.stage(first, 0, mpi::packet_bytes);
    node.stage(second, 1, mpi::packet_bytes);
    begin(1);
  }
  void begin(std::uint32_t instance) {
    one.begin(instance, 5, {});
    two.begin(instance, 5, {});
  }
};

bool has_ended(const Transfer& transfer) {
  return transfer.started && transfer.done == transfer.total;
}

/// Turns of one rank after the other until the message is there and its sender free, or nothing helps.
bool come_through(Messages& from, Messages& to, Transfer& sent, Transfer& got) {
  for (int turn = 0; turn < 20 && !(has_ended(sent) && has_ended(got)); ++turn) {
    from.take_in();
    if (!has_ended(sent)) from.advance_send(sent);
    to.take_in();
    if (!has_ended(got)) to.advance_recv(got);
  }
  return has_ended(sent) && has_ended(got);
}

TEST(MessageStages, LetTheSenderGoAtOnceWhereTheMessageFits) {
  Stagers mates;
  Buffer out(whole, 1, true), in(whole, 255, true);
  Transfer sent = out.with(1), got = in.with(0);
  EXPECT_EQ(mates.one.advance_send(sent), Status::ok);
  EXPECT_EQ(sent.done, whole);
  mates.two.take_in();
  EXPECT_EQ(mates.two.advance_recv(got), Status::ok);
  EXPECT_TRUE(in.holds(1));
  EXPECT_EQ(mates.second.from_mates().staged, 1U);
}

TEST(MessageStages, AreUsedAgainAsTheirReaderGoesOn) {
  Stagers mates;
  Buffer out(longer, 1, true), in(longer, 255, false);
  Transfer sent = out.with(1), got = in.with(0);
  EXPECT_EQ(mates.one.advance_send(sent), Status::pending);
  EXPECT_EQ(sent.done, whole);
  const Blocker before = mates.one.send_blocker(sent);
  ASSERT_NE(before.word, nullptr) << "memory will show that an area is empty";
  mates.two.take_in();
  EXPECT_EQ(mates.two.advance_recv(got), Status::pending);
  EXPECT_EQ(got.done, whole);
  EXPECT_NE(mates.two.recv_blocker(got).word, nullptr);
  EXPECT_NE(*static_cast<const std::uint32_t*>(before.word), before.seen) << "a sleeper would not wake up";
  ASSERT_TRUE(come_through(mates.one, mates.two, sent, got));
  EXPECT_TRUE(in.holds(1));
  EXPECT_EQ(mates.second.from_mates().staged, 1U);
}

TEST(MessageStages, AreOfLongMessages) {
  Stagers mates;
  Buffer out(mpi::packet_bytes - 1, 1, false), in(mpi::packet_bytes - 1, 255, false);
  Transfer sent = out.with(1), got = in.with(0);
  ASSERT_TRUE(come_through(mates.one, mates.two, sent, got));
  EXPECT_TRUE(in.holds(1));
  EXPECT_EQ(mates.second.from_mates().staged, 0U);
}

/// Nobody waits for the reader of another message.
TEST(MessageStages, AreTakenOnlyWhereOneIsFree) {
  Stagers mates;
  std::deque<Buffer> out, in;
  std::deque<Transfer> sent, got;
  for (int i = 0; i <= static_cast<int>(NodeStages::most_stages); ++i) {
    out.emplace_back(whole, i, false);
    in.emplace_back(whole, 255, false);
    sent.push_back(out.back().with(1));
    got.push_back(in.back().with(0));
    EXPECT_EQ(mates.one.advance_send(sent.back()),
              i < static_cast<int>(NodeStages::most_stages) ? Status::ok : Status::pending);
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(come_through(mates.one, mates.two, sent[i], got[i])) << i;
    EXPECT_TRUE(in[i].holds(static_cast<int>(i)));
  }
  EXPECT_EQ(mates.second.from_mates().staged, NodeStages::most_stages);
  Buffer again(whole, 77, false), in_again(whole, 255, false);
  Transfer sent_again = again.with(1), got_again = in_again.with(0);
  EXPECT_EQ(mates.one.advance_send(sent_again), Status::ok) << "all are empty";
  ASSERT_TRUE(come_through(mates.one, mates.two, sent_again, got_again));
  EXPECT_EQ(mates.second.from_mates().staged, NodeStages::most_stages + 1);
}

/// Reads that cost less than two copies take their place; and where they do not, those messages that are
/// longer than a stage, of senders that leave.
TEST(MessageStages, AreLeftWhereReadsPay) {
  for (const bool pays : {true, false})
    for (const bool stays : {true, false})
      for (const std::size_t bytes : {whole, longer}) {
        Stagers mates;
        mates.node.lend(mates.first, mpi::packet_bytes, true, pays);
        mates.node.lend(mates.second, mpi::packet_bytes, true, pays);
        Messages sender(mates.first, world, mates.members, stays);
        sender.begin(1, 5, {});
        Buffer out(bytes, 1, false), in(bytes, 255, false);
        Transfer sent = out.with(1), got = in.with(0);
        ASSERT_TRUE(come_through(sender, mates.two, sent, got));
        EXPECT_TRUE(in.holds(1));
        const bool is_staged = !pays && (stays || bytes == whole);
        EXPECT_EQ(mates.second.from_mates().staged, is_staged ? 1U : 0U);
        EXPECT_EQ(mates.second.from_mates().read, is_staged ? 0U : 1U);
      }
}

/// What could not be read goes through a stage, though it may be refilled late.
TEST(MessageStages, HelpWhereReadsFail) {
  Stagers mates;
  mates.node.lend(mates.first, mpi::packet_bytes, false);
  mates.node.lend(mates.second, mpi::packet_bytes, false);
  Buffer out(longer, 1, false), in(longer, 255, false);
  Transfer sent = out.with(1), got = in.with(0);
  ASSERT_TRUE(come_through(mates.one, mates.two, sent, got));
  EXPECT_TRUE(in.holds(1));
  EXPECT_EQ(mates.second.from_mates().unreadable, 1U);
  EXPECT_EQ(mates.second.from_mates().staged, 1U);
}

/// Those that found room for their first part; the others go another way.
TEST(MessageStages, WaitForRoomInTheMailbox) {
  Stagers mates;
  Buffer word(8, 9, false);
  for (std::uint32_t i = 1; i < shm::Mailbox::slots; ++i) {  // one place is left
    mates.one.begin(100 + i, 5, {});
    Transfer t = word.with(1);
    ASSERT_EQ(mates.one.advance_send(t), Status::ok);
  }
  mates.begin(1);
  Buffer out(whole, 1, false), in(whole, 255, false), other(whole, 2, false), in_other(whole, 255, false);
  Transfer sent = out.with(1), got = in.with(0), sent_other = other.with(1), got_other = in_other.with(0);
  EXPECT_EQ(mates.one.advance_send(sent), Status::pending);
  EXPECT_EQ(sent.done, NodeStages::area_bytes);
  EXPECT_EQ(mates.one.send_blocker(sent).word, nullptr) << "nothing tells when there is room";
  EXPECT_EQ(mates.one.advance_send(sent_other), Status::pending);
  EXPECT_EQ(sent_other.done, 0U);
  ASSERT_TRUE(come_through(mates.one, mates.two, sent, got));
  EXPECT_TRUE(in.holds(1));
  ASSERT_TRUE(come_through(mates.one, mates.two, sent_other, got_other));
  EXPECT_TRUE(in_other.holds(2));
  EXPECT_EQ(mates.second.from_mates().staged, 1U);
}

/// Its stage serves again when what was sent has been read.
TEST(MessageStages, MayBeGivenUp) {
  Stagers mates;
  Buffer out(longer, 1, false), in(longer, 255, false), next(whole, 2, false), in_next(whole, 255, false);
  for (std::uint32_t i = 1; i <= 2 * NodeStages::most_stages; ++i) {
    mates.begin(2 * i);
    Transfer sent = out.with(1), got = in.with(0);
    EXPECT_EQ(mates.one.advance_send(sent), Status::pending);
    mates.one.abandon();
    mates.two.take_in();
    EXPECT_EQ(mates.two.advance_recv(got), Status::pending);
    mates.begin(2 * i + 1);
    Transfer second = next.with(1), got_second = in_next.with(0);
    EXPECT_EQ(mates.one.advance_send(second), Status::ok);
    ASSERT_TRUE(come_through(mates.one, mates.two, second, got_second));
    EXPECT_TRUE(in_next.holds(2));
  }
  Transfer last = out.with(1);
  EXPECT_EQ(mates.one.advance_send(last), Status::pending);
  mates.first.close();
  EXPECT_EQ(mates.one.advance_send(last), Status::failed);
}

/// And do not keep their stage.
TEST(MessageStages, OfAnotherCallAreAMismatch) {
  Stagers mates;
  Buffer out(NodeStages::area_bytes, 1, false), in(NodeStages::area_bytes, 255, false);
  for (std::uint32_t i = 1; i <= 2 * NodeStages::most_stages; ++i) {
    mates.one.begin(i, 5, {});
    mates.two.begin(i, 6, {});
    Transfer sent = out.with(1), got = in.with(0);
    EXPECT_EQ(mates.one.advance_send(sent), Status::ok);
    mates.two.take_in();
    EXPECT_EQ(mates.two.advance_recv(got), Status::mismatch);
    EXPECT_TRUE(in.holds(255));
  }
}

/// Copies between places that are alike in their pages are quick (base/copy.hpp).
TEST(NodeStages, HaveAreasInsideOfTheirMemoryAndNotWherePagesBegin) {
  for (const std::size_t ranks : {2, 3, 40, 200}) {
    std::vector<ir::Rank> all(ranks);
    std::iota(all.begin(), all.end(), 0);
    auto* const memory = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40U);  // nobody looks at it
    const std::uint32_t stages = static_cast<std::uint32_t>(NodeStages::stages_of_each(ranks));
    const NodeStages any(memory, shm::NodeRanks(all), 0);
    for (const ir::Rank owner : all)
      for (std::uint32_t stage = 0; stage < stages; ++stage) {
        const std::byte* const first = any.data_of(owner, {stage, 0});
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 4096, shm::staging_shift);
        const std::byte* const last = any.data_of(owner, {stage, NodeStages::depth - 1});
        EXPECT_LE(last + NodeStages::area_bytes, memory + NodeStages::bytes(ranks));
      }
    EXPECT_LE(NodeStages::bytes(ranks), std::max(ranks * sizeof(NodeStages::Stage), std::size_t{64} << 20U));
  }
}

}  // namespace
}  // namespace hocket::transports
