// Loans of the cells: large messages that the receiver reads where they are. Ranks are objects of one thread
// where the order of what they do matters, threads otherwise; memory is a vector, and what they read of each
// other is copied.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "harness/memory.hpp"
#include "harness/one_process.hpp"
#include "harness/seed.hpp"
#include "transports/fake/faults.hpp"
#include "transports/shm/cells.hpp"
#include "transports/shm/channel.hpp"

namespace hocket::transports {
namespace {

using harness::OneProcess;
using shm::Cells;
using shm::Channel;
using test::Memory;

constexpr std::size_t kib = 1024;
constexpr std::size_t bound = 64 * kib;

/// Cells among ranks that one thread moves, or several.
class Node {
 public:
  explicit Node(Rank ranks) : ranks_(ranks), lines_(shm::bytes_for(ranks)), cells_(shm::cells_bytes(ranks)) {}

  /// One rank's side.
  struct Side {
    Channel channel;
    OneProcess peers;
    Cells cells;
    Side(Node& node, Rank rank, bool readable, bool has_peers)
        : channel(node.lines_.get(), node.ranks_, rank,
                  {WaitMode::yield, nullptr, nullptr, nullptr, nullptr}),
          peers(readable),
          cells(node.cells_.get(), node.ranks_, rank, channel.waiting(), has_peers ? &peers : nullptr) {}
  };

 private:
  Rank ranks_;
  Memory lines_, cells_;
};

/// Data of one side of a message, in pieces of these sizes.
class Message {
 public:
  Message(Rank peer, const std::vector<std::size_t>& sizes, int salt = 0)
      : data_(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0})) {
    fill(salt);
    std::byte* next = data_.data();
    for (const std::size_t bytes : sizes) {
      pieces_.push_back({next, bytes});
      next += bytes;
    }
    transfer = {.peer = peer, .pieces = pieces_, .total = data_.size()};
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  /// Bytes that tell places and messages apart.
  void fill(int salt) {
    for (std::size_t i = 0; i < data_.size(); ++i)
      data_[i] = static_cast<std::byte>(static_cast<std::size_t>(salt) * 131 + i + (i >> 8U) * 7);
  }
  const std::vector<std::byte>& data() const { return data_; }

  Transfer transfer;

 private:
  std::vector<std::byte> data_;
  std::vector<Piece> pieces_;
};

constexpr Rank sender = 0, receiver = 1;

/// Two ranks in one thread: what is pending stays so until the test lets the other one go on.
class Loans : public testing::Test {
 protected:
  struct Peers {
    bool readable = true;      ///< the sender, to the receiver
    bool has_receiver = true;  ///< reads of others' memory, as opposed to HOCKET_CMA=off
  };
  explicit Loans(const Peers& peers = {true, true})
      : from(node_, sender, true, true), to(node_, receiver, peers.readable, peers.has_receiver) {
    from.cells.lend_from(bound);
  }

  Status send(Message& m) { return from.cells.advance_send(m.transfer); }
  Status receive(Message& m) { return to.cells.advance_recv(m.transfer); }

  /// By turns, until both sides have ended.
  void carry(Message& out, Message& in) {
    Status sent = Status::pending, got = Status::pending;
    while (sent == Status::pending || got == Status::pending) {
      if (sent == Status::pending) sent = send(out);
      if (got == Status::pending) got = receive(in);
    }
    ASSERT_EQ(sent, Status::ok);
    ASSERT_EQ(got, Status::ok);
    ASSERT_EQ(in.data(), out.data());
  }
  void carry(std::size_t bytes) {
    Message out(receiver, {bytes}, 1), in(sender, {bytes});
    carry(out, in);
  }
  /// The pair knows after this whether it can lend. It fits into the cells, so all of it is copied.
  void ask() { carry(bound); }

 private:
  Node node_{2};

 protected:
  Node::Side from, to;
};

class RefusedLoans : public Loans {
 protected:
  RefusedLoans() : Loans({.readable = false}) {}
};

class UnwantedLoans : public Loans {
 protected:
  UnwantedLoans() : Loans({.has_receiver = false}) {}
};

TEST_F(Loans, ArePendingUntilTheReceiverHasRead) {
  ask();
  Message out(receiver, {kib * kib}, 3), in(sender, {kib * kib});
  Transfer waiting;
  waiting.peer = receiver;
  const Blocker before = from.cells.send_blocker(waiting);
  EXPECT_EQ(send(out), Status::pending);
  EXPECT_EQ(send(out), Status::pending);
  EXPECT_EQ(to.peers.reads, 0);
  EXPECT_EQ(receive(in), Status::ok);
  EXPECT_EQ(to.peers.reads, 1);
  EXPECT_EQ(in.data(), out.data());
  const Blocker after = from.cells.send_blocker(waiting);
  EXPECT_EQ(after.word, before.word);
  EXPECT_NE(after.seen, before.seen) << "a sender that sleeps on it would not wake up";
  EXPECT_EQ(send(out), Status::ok);
}

TEST_F(Loans, AreReadWhereTheyAreNotCopiedBefore) {
  ask();
  Message out(receiver, {3 * bound}, 3), in(sender, {3 * bound});
  ASSERT_EQ(send(out), Status::pending);
  out.fill(4);
  ASSERT_EQ(receive(in), Status::ok);
  EXPECT_EQ(in.data(), out.data());
  ASSERT_EQ(send(out), Status::ok);
  out.fill(5);  // it is the sender's own again
  EXPECT_NE(in.data(), out.data());
}

TEST_F(Loans, AreAskedForOncePerPair) {
  ask();
  ask();
  carry(kib * kib);
  EXPECT_EQ(from.peers.admitted, 1);
  EXPECT_EQ(to.peers.asked, 1);
  EXPECT_EQ(to.peers.reads, 2);
  EXPECT_EQ(to.peers.admitted + from.peers.asked, 0) << "nobody lends in the other direction";
}

TEST_F(Loans, AreFoundOutInEachDirectionByItself) {
  ask();
  to.cells.lend_from(bound);
  for (const int reads : {0, 1}) {
    Message out(sender, {bound}, 2), in(receiver, {bound});
    const Status sent = to.cells.advance_send(out.transfer);
    EXPECT_EQ(sent, reads == 0 ? Status::ok : Status::pending);
    ASSERT_EQ(from.cells.advance_recv(in.transfer), Status::ok);
    ASSERT_EQ(to.cells.advance_send(out.transfer), Status::ok);
    EXPECT_EQ(in.data(), out.data());
    EXPECT_EQ(from.peers.reads, reads);
  }
}

TEST_F(Loans, CarryTheRestOfTheMessageThatHasAsked) {
  carry(10 * kib * kib);
  EXPECT_EQ(to.peers.reads, 1);
}

TEST_F(Loans, AreCopiesUntilTheAnswerIsThere) {
  Message first(receiver, {bound}, 1), second(receiver, {bound}, 2), third(receiver, {bound}, 3);
  EXPECT_EQ(send(first), Status::ok);  // the receiver has seen nothing yet: it has room in the cells
  EXPECT_EQ(send(second), Status::ok);
  Message in(sender, {bound});
  EXPECT_EQ(receive(in), Status::ok);
  EXPECT_EQ(in.data(), first.data());
  EXPECT_EQ(send(third), Status::pending);  // lent, behind what is not read yet
  for (const Message* sent : {&second, &third}) {
    Message next(sender, {bound});
    EXPECT_EQ(receive(next), Status::ok);
    EXPECT_EQ(next.data(), sent->data());
  }
  EXPECT_EQ(send(third), Status::ok);
  EXPECT_EQ(to.peers.reads, 1);
  EXPECT_EQ(to.peers.asked, 1);
}

TEST_F(Loans, AreOnlyThePiecesThatAreWorthIt) {
  ask();
  // A cell of copies takes some of the next piece, too: what is left of that decides.
  Message out(receiver, {100, 2 * bound, 10, 0, bound - 1, 2 * bound, 3}, 3), in(sender, {5 * bound + 112});
  carry(out, in);
  EXPECT_EQ(to.peers.reads, 2);
}

TEST_F(Loans, AreReadIntoSeveralPieces) {
  ask();
  Message out(receiver, {2 * bound}, 3), in(sender, {1, bound, 0, bound - 1});
  carry(out, in);
  EXPECT_EQ(to.peers.reads, 3);
}

/// As blocking calls do from one call to the next.
TEST_F(Loans, CanBeGivenUpAndTakenUpAgain) {
  ask();
  for (const int reads : {1, 1, 2, 2}) {
    from.cells.lend_from(reads == to.peers.reads ? Cells::never : bound);
    carry(bound);
    EXPECT_EQ(to.peers.reads, reads);
  }
  EXPECT_EQ(to.peers.asked, 1);
}

TEST_F(Loans, AreNotAskedForBySmallMessagesAndSmallPieces) {
  carry(0);
  carry(bound - 1);
  Message out(receiver, {bound - 1, 10, bound - 1}, 3), in(sender, {2 * bound + 8});
  carry(out, in);
  EXPECT_EQ(from.peers.admitted + to.peers.asked + to.peers.reads, 0);
}

TEST_F(Loans, AreNotAskedForWhereNobodyLends) {
  from.cells.lend_from(Cells::never);
  carry(kib * kib);
  EXPECT_EQ(from.peers.admitted + to.peers.asked + to.peers.reads, 0);
}

TEST_F(Loans, CarryMessagesFromOneByteOn) {
  from.cells.lend_from(1);
  carry(1);
  for (const std::size_t bytes : {0, 1, 48, 49, 5000}) carry(bytes);
  EXPECT_EQ(to.peers.reads, 4) << "all but the one that has asked and the empty one";
}

TEST_F(RefusedLoans, AreCopied) {
  for (int i = 0; i < 3; ++i) carry(kib * kib);
  EXPECT_EQ(to.peers.asked, 1);
  EXPECT_EQ(to.peers.reads, 0);
}

/// HOCKET_CMA=off on the receiver's side.
TEST_F(UnwantedLoans, AreCopied) {
  for (int i = 0; i < 3; ++i) carry(kib * kib);
  EXPECT_EQ(to.peers.asked + to.peers.reads, 0);
}

/// On the sender's side: it may say what it likes.
TEST_F(UnwantedLoans, AreNotOffered) {
  to.cells.lend_from(1);
  Message out(sender, {kib * kib}, 2), in(receiver, {kib * kib});
  Status sent = Status::pending;
  while (sent == Status::pending) {
    sent = to.cells.advance_send(out.transfer);
    from.cells.advance_recv(in.transfer);
  }
  EXPECT_EQ(in.data(), out.data());
  EXPECT_EQ(from.peers.asked + from.peers.reads, 0);
}

TEST_F(Loans, EndTheReceiptWithAnErrorWhereTheyCannotBeRead) {
  ask();
  Message out(receiver, {bound}, 3), in(sender, {bound});
  ASSERT_EQ(send(out), Status::pending);
  to.peers.fails = true;
  EXPECT_EQ(receive(in), Status::failed);
  EXPECT_EQ(send(out), Status::pending) << "nobody has read it";
}

TEST_F(Loans, NoticeSizesThatDoNotAgree) {
  ask();
  Message out(receiver, {bound}, 3), in(sender, {2 * bound});
  ASSERT_EQ(send(out), Status::pending);
  EXPECT_EQ(receive(in), Status::mismatch);
  EXPECT_EQ(to.peers.reads, 0);
}

// ---- threads
struct Ring {
  double pending;
  std::size_t least_loan;
  Rank without_reads = -1;  ///< a rank that cannot read others' memory
};

/// Any number of pieces, some of them empty, that make up so many bytes.
std::vector<std::size_t> random_pieces(std::mt19937_64& random, std::size_t bytes) {
  std::vector<std::size_t> pieces;
  for (std::uint64_t more = random() % 4; more > 0; --more) {
    pieces.push_back(random() % (bytes + 1));
    bytes -= pieces.back();
  }
  pieces.push_back(bytes);
  return pieces;
}

std::size_t random_size(std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      return random() % 64;
    case 1:
      return bound - 1 + random() % 3;
    default:
      return random() % 300'000;
  }
}

/// Sends and receives one message at once, as a round does. As long as the other end is not there, others
/// run.
Status exchange(TwoSided& via, Message& out, Message& in) {
  Status sent = Status::pending, got = Status::pending;
  while (sent == Status::pending || got == Status::pending) {
    if (sent == Status::pending) sent = via.advance_send(out.transfer);
    if (got == Status::pending) got = via.advance_recv(in.transfer);
    std::this_thread::yield();
  }
  return sent == Status::ok ? got : sent;
}

class RingOfLoans : public testing::TestWithParam<Ring> {};

TEST_P(RingOfLoans, CarriesMessagesOfAllSizesInOrder) {
  constexpr Rank ranks = 3;
  constexpr int messages = 30;
  const std::uint64_t seed = harness::test_seed();
  SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
  Node node(ranks);
  std::vector<std::unique_ptr<Node::Side>> sides;
  for (Rank r = 0; r < ranks; ++r)
    sides.push_back(std::make_unique<Node::Side>(node, r, r != GetParam().without_reads, true));
  const auto run = [&](Rank me) {
    Node::Side& side = *sides[static_cast<std::size_t>(me)];
    side.cells.lend_from(GetParam().least_loan);
    fake::FaultyTwoSided via(side.cells,
                             {.seed = seed + static_cast<std::uint64_t>(me), .pending = GetParam().pending});
    std::mt19937_64 sizes(seed), cuts(seed + 100 + static_cast<std::uint64_t>(me));
    const Rank to = (me + 1) % ranks;
    const Rank from = (me + ranks - 1) % ranks;
    for (int i = 0; i < messages; ++i) {
      const std::size_t bytes = random_size(sizes);
      Message out(to, random_pieces(cuts, bytes), me * messages + i);
      Message in(from, random_pieces(cuts, bytes));
      ASSERT_EQ(exchange(via, out, in), Status::ok);
      out.fill(-1);  // complete: nobody reads it any more
      ASSERT_EQ(in.data(), Message(me, {bytes}, from * messages + i).data()) << "message " << i;
    }
  };
  std::vector<std::thread> threads;
  for (Rank r = 0; r < ranks; ++r) threads.emplace_back(run, r);
  for (std::thread& t : threads) t.join();
  for (Rank r = 0; r < ranks; ++r) {
    const OneProcess& peers = sides[static_cast<std::size_t>(r)]->peers;
    EXPECT_EQ(peers.asked, 1);
    if (r == GetParam().without_reads)
      EXPECT_EQ(peers.reads, 0);
    else
      EXPECT_GT(peers.reads, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Pending, RingOfLoans,
                         testing::Values(Ring{0, 1}, Ring{0, bound}, Ring{0.3, 1}, Ring{0.3, bound},
                                         Ring{0.9, 1}, Ring{0.9, bound}, Ring{0.3, 1, 1},
                                         Ring{0.3, bound, 1}));

}  // namespace
}  // namespace hocket::transports
