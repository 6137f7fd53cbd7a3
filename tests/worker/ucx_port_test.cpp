// The port over UCX (worker/ucx_port.hpp): what its contract says, between fabrics that are all in this
// process, and messages over it (transports/mpi) between threads. Processes that end: ucx_processes_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "base/error.hpp"
#include "harness/message_rounds.hpp"
#include "harness/seed.hpp"
#include "worker/fabrics.hpp"
#include "worker/tag.hpp"

namespace hocket::worker {
namespace {

using test::Board;
using test::Fabrics;
using test::filled;
using transports::mpi::Port;

constexpr std::size_t long_bytes = 5'000'000, packet_bytes = worker::longest_packet;

class UcxPort : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { test::set_transports(GetParam()); }
  void TearDown() override { test::set_transports(""); }
};

INSTANTIATE_TEST_SUITE_P(Transports, UcxPort, testing::Values("", "tcp,self", "tcp"),
                         [](const auto& info) { return test::name_of_transports(info.param); });

/// No piece is as another.
std::vector<std::byte> numbered(std::size_t bytes, int first) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<std::byte>(static_cast<std::size_t>(first) + i + i / 251);
  return data;
}

/// From every rank to every rank: also of its own process, and itself.
TEST_P(UcxPort, CarriesMessagesOfAllSizes) {
  Fabrics all({0, 0, 1, 2});
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4000}, packet_bytes,
                                  std::size_t{70'000}, UcxFabric::unasked_bytes, UcxFabric::unasked_bytes + 1,
                                  UcxFabric::unasked_bytes + 2, std::size_t{512 << 10}, long_bytes})
    for (Rank from = 0; from < all.ranks(); ++from)
      for (Rank to = 0; to < all.ranks(); ++to) {
        const auto out = numbered(bytes, 16 * from + to + 1);
        auto in = filled(bytes, 0);
        Port::Ticket sent = 0, received = 0;
        ASSERT_EQ(all[from].send(out.data(), bytes, to, 5, sent), Status::ok);
        ASSERT_EQ(all[to].receive(in.data(), bytes, from, 5, received), Status::ok);
        ASSERT_EQ(all.outcome(to, received), Status::ok) << bytes << " from " << from << " to " << to;
        ASSERT_EQ(all.outcome(from, sent), Status::ok);
        ASSERT_EQ(in, out);
      }
}

/// Short ones that come at once, and long ones that their receiver has to ask for.
TEST_P(UcxPort, KeepsTheOrderOfAPairAndTag) {
  constexpr int many = 120;
  Fabrics all({0, 1});
  std::vector<std::vector<std::byte>> out, in;
  std::vector<Port::Ticket> sent(many), received(many);
  for (int i = 0; i < many; ++i) {
    const std::size_t bytes = i % 3 == 0 ? 600'000 : 100;
    out.push_back(filled(bytes, i));
    in.push_back(filled(bytes, 255));
  }
  for (int i = 0; i < many; ++i) {
    const auto at = static_cast<std::size_t>(i);
    ASSERT_EQ(all[0].send(out[at].data(), out[at].size(), 1, 9, sent[at]), Status::ok);
    if (i % 7 == 0) all.look();
  }
  for (int i = 0; i < many; ++i) {
    const auto at = static_cast<std::size_t>(i);
    ASSERT_EQ(all[1].receive(in[at].data(), in[at].size(), 0, 9, received[at]), Status::ok);
    if (i % 11 == 0) all.look();
  }
  for (int i = 0; i < many; ++i) {
    const auto at = static_cast<std::size_t>(i);
    ASSERT_EQ(all.outcome(1, received[at]), Status::ok);
    ASSERT_EQ(all.outcome(0, sent[at]), Status::ok);
    ASSERT_EQ(in[at], out[at]) << i;
  }
}

/// The highest tag, and pairs of ranks that differ in one of both.
TEST_P(UcxPort, TellsRanksAndTagsApart) {
  Fabrics all({0, 0, 1, 1});
  const std::uint32_t last = all[0].last_tag();
  struct Route {
    Rank from, to;
    std::uint32_t tag;
  };
  const std::vector<Route> routes = {{0, 2, 1}, {0, 3, 1}, {1, 2, 1}, {1, 3, 1}, {0, 2, last}, {0, 2, 2}};
  std::vector<int> out(routes.size()), in(routes.size(), -1);
  std::vector<Port::Ticket> sent(routes.size()), received(routes.size());
  for (std::size_t i = routes.size(); i-- > 0;) {
    out[i] = static_cast<int>(i);
    ASSERT_EQ(all[routes[i].from].send(&out[i], sizeof out[i], routes[i].to, routes[i].tag, sent[i]),
              Status::ok);
  }
  for (std::size_t i = 0; i < routes.size(); ++i)
    ASSERT_EQ(all[routes[i].to].receive(&in[i], sizeof in[i], routes[i].from, routes[i].tag, received[i]),
              Status::ok);
  for (std::size_t i = 0; i < routes.size(); ++i) {
    ASSERT_EQ(all.outcome(routes[i].to, received[i]), Status::ok);
    ASSERT_EQ(all.outcome(routes[i].from, sent[i]), Status::ok);
    EXPECT_EQ(in[i], out[i]);
  }
}

TEST(Tag, HoldsTheHighestOfAll) {
  constexpr auto last = static_cast<Rank>(Tag::most_ranks - 1);
  EXPECT_EQ(Tag::sender(Tag::of(last, last, Tag::last_number)), last);
  EXPECT_EQ(Tag::sender(Tag::of(last, 0, Tag::last_number)), 0);
  EXPECT_EQ(Tag::of(last, last, Tag::last_number), ~std::uint64_t{0});
}

/// What has been heard in the places of one rank.
class Ears {
 public:
  explicit Ears(Port& port) : port_(port) {
    for (std::uint32_t place = 0; place < Port::places; ++place) listen(place);
  }
  /// By sender, in the order in which they came.
  std::vector<std::vector<int>> heard = std::vector<std::vector<int>>(8);

  void take_in() {
    std::uint32_t place = 0;
    Rank from = 0;
    while (port_.heard(place, from)) {
      heard[static_cast<std::size_t>(from)].push_back(packets_[place][0]);
      listen(place);
    }
  }

 private:
  using Packet = std::array<int, packet_bytes / sizeof(int)>;
  void listen(std::uint32_t place) {
    ASSERT_EQ(port_.listen(place, packets_[place].data(), sizeof(Packet)), Status::ok);
  }
  Port& port_;
  std::array<Packet, Port::places> packets_{};
};

TEST_P(UcxPort, HearsAnybodyInOrder) {
  constexpr int many = 5 * Port::places;
  Fabrics all({0, 0, 1, 2});
  Ears ears(all[1]);
  struct Sent {
    Rank from;
    Port::Ticket ticket;
  };
  std::vector<Sent> sent;
  std::vector<std::vector<int>> packets;
  for (int i = 0; i < many; ++i)
    for (Rank from = 0; from < all.ranks(); ++from) {
      auto& packet = packets.emplace_back(i % 2 == 0 ? 1 : packet_bytes / sizeof(int), i);
      Sent& one = sent.emplace_back(from, 0);
      ASSERT_EQ(all[from].send(packet.data(), packet.size() * sizeof(int), 1, 0, one.ticket), Status::ok);
    }
  const auto has_all = [&] {
    ears.take_in();
    return std::all_of(ears.heard.begin(), ears.heard.begin() + all.ranks(),
                       [](const auto& from) { return from.size() == many; });
  };
  ASSERT_TRUE(all.until(has_all));
  std::vector<int> in_order(many);
  std::iota(in_order.begin(), in_order.end(), 0);
  for (Rank from = 0; from < all.ranks(); ++from) {
    EXPECT_EQ(ears.heard[static_cast<std::size_t>(from)], in_order) << from;
  }
  for (const Sent& one : sent) ASSERT_EQ(all.outcome(one.from, one.ticket), Status::ok);
}

/// As contracts say: what comes between looks is heard after the next one.
TEST_P(UcxPort, HearsWhatTheLastLookHasFound) {
  Fabrics all({0, 0});
  const int out = 42;
  int in = 0;
  Port::Ticket ticket = 0;
  std::uint32_t place = 0;
  Rank from = 0;
  ASSERT_EQ(all[0].send(&out, sizeof out, 1, 0, ticket), Status::ok);
  ASSERT_EQ(all.outcome(0, ticket), Status::ok);
  ASSERT_EQ(all[1].listen(3, &in, sizeof in), Status::ok);
  EXPECT_FALSE(all[1].heard(place, from));
  ASSERT_TRUE(all.until([&] { return all[1].heard(place, from); }));
  EXPECT_EQ(place, 3U);
  EXPECT_EQ(from, 0);
  EXPECT_EQ(in, out);
  EXPECT_FALSE(all[1].heard(place, from));
}

/// Else what nobody waits for would need its sender again (transports/mpi/envelope.hpp).
TEST_P(UcxPort, PacketsLeaveWithoutTheirReceiver) {
  Fabrics all({0, 0, 1});
  const auto packet = filled(packet_bytes, 1);
  for (const Rank to : {1, 2}) {
    Port::Ticket ticket = 0;
    ASSERT_EQ(all[0].send(packet.data(), packet.size(), to, 0, ticket), Status::ok);
    EXPECT_EQ(all.outcome(0, ticket), Status::ok) << to;
  }
}

TEST_P(UcxPort, AbandonedReceivesMeetNoMessage) {
  Fabrics all({0, 0, 1});
  for (const Rank from : {0, 2}) {
    int first = 0, second = 0;
    const int out = 42;
    Port::Ticket abandoned = 0, received = 0, sent = 0;
    ASSERT_EQ(all[1].receive(&first, sizeof first, from, 3, abandoned), Status::ok);
    all.look();
    all[1].abandon(abandoned);
    ASSERT_EQ(all[from].send(&out, sizeof out, 1, 3, sent), Status::ok);
    ASSERT_EQ(all.outcome(from, sent), Status::ok);
    ASSERT_EQ(all[1].receive(&second, sizeof second, from, 3, received), Status::ok);
    ASSERT_EQ(all.outcome(1, received), Status::ok);
    EXPECT_EQ(first, 0);
    EXPECT_EQ(second, out);
  }
}

/// Its receiver, in the same thread, does not look while the other one waits for it.
TEST_P(UcxPort, AbandonsReceivesWhoseSenderDoesNotGoOn) {
  Fabrics all({0, 1, 2});
  const auto out = filled(4 * long_bytes, 1);
  auto in = filled(4 * long_bytes, 0);
  Port::Ticket sent = 0, received = 0;
  ASSERT_EQ(all[1].receive(in.data(), in.size(), 0, 3, received), Status::ok);
  ASSERT_EQ(all[0].send(out.data(), out.size(), 1, 3, sent), Status::ok);
  ASSERT_TRUE(all.until([&] { return in[0] == out[0] || in[in.size() / 2] == out[0]; }));
  ASSERT_EQ(all[1].test(received), Status::pending);
  const Deadline too_late(5);
  all[1].abandon(received);
  EXPECT_FALSE(too_late.passed());
  EXPECT_TRUE(all.fabric(1).has_lost(0));
  ASSERT_TRUE(all.fabric(1).is_open());
  const auto before = in;
  EXPECT_NE(all.outcome(0, sent), Status::pending);  // UCX 1.13 may take the rest in, and drop it
  EXPECT_EQ(in, before);

  const int more = 42;
  int heard = 0;
  ASSERT_EQ(all[2].send(&more, sizeof more, 1, 3, sent), Status::ok);
  ASSERT_EQ(all[1].receive(&heard, sizeof heard, 2, 3, received), Status::ok);
  EXPECT_EQ(all.outcome(1, received), Status::ok);
  EXPECT_EQ(heard, more);
}

/// Nobody knows whose message it is that a place has begun to receive: then all of UCX is given up.
TEST_P(UcxPort, GivesUpAllForAPlaceWhoseSenderDoesNotGoOn) {
  Fabrics all({0, 1, 1});
  const auto out = filled(4 * long_bytes, 1);
  auto in = filled(4 * long_bytes, 0);
  Port::Ticket sent = 0;
  ASSERT_EQ(all[1].listen(0, in.data(), in.size()), Status::ok);
  ASSERT_EQ(all[0].send(out.data(), out.size(), 1, 0, sent), Status::ok);
  ASSERT_TRUE(all.until([&] { return in[0] == out[0] || in[in.size() / 2] == out[0]; }));
  const Deadline too_late(5);
  all.close_port(1);
  EXPECT_FALSE(too_late.passed());
  EXPECT_FALSE(all.fabric(1).is_open());
  EXPECT_EQ(all[2].look(), Status::failed);
  EXPECT_EQ(all[2].send(out.data(), 4, 0, 3, sent), Status::failed);
  const auto before = in;
  EXPECT_TRUE(all.until([&] { return all.fabric(0).has_lost(1); }));
  EXPECT_EQ(in, before);
}

/// Whoever owns the memory has to know.
TEST_P(UcxPort, SaysUntilWhenAbandonedSendsAreRead) {
  Fabrics all({0, 0, 1});
  for (const Rank to : {1, 2}) {
    const auto out = filled(long_bytes, 1);
    auto in = filled(long_bytes, 0);
    Port::Ticket sent = 0, received = 0;
    EXPECT_FALSE(all.fabric(0).still_reads());
    ASSERT_EQ(all[0].send(out.data(), out.size(), to, 3, sent), Status::ok);
    all.look();
    all[0].abandon(sent);
    EXPECT_TRUE(all.fabric(0).still_reads());
    ASSERT_EQ(all[to].receive(in.data(), in.size(), 0, 3, received), Status::ok);
    ASSERT_EQ(all.outcome(to, received), Status::ok);
    EXPECT_EQ(in, out);
    EXPECT_TRUE(all.until([&] { return !all.fabric(0).still_reads(); }));
  }
}

/// Sends that nobody receives, receives of what nobody sends, and one that has begun.
TEST_P(UcxPort, ClosesWithMessagesUnderWay) {
  const auto out = filled(4 * long_bytes, 1);
  auto in = filled(4 * long_bytes, 0), nothing = in;
  const Deadline too_late(10);
  {
    Fabrics all({0, 1, 1});
    Port::Ticket ticket = 0;
    ASSERT_EQ(all[2].receive(in.data(), in.size(), 0, 3, ticket), Status::ok);
    ASSERT_EQ(all[2].receive(nothing.data(), nothing.size(), 1, 4, ticket), Status::ok);
    for (const Rank to : {1, 2}) ASSERT_EQ(all[0].send(out.data(), out.size(), to, 3, ticket), Status::ok);
    ASSERT_EQ(all[1].send(out.data(), out.size(), 2, 3, ticket), Status::ok);
    ASSERT_EQ(all[1].send(out.data(), 4, 0, 0, ticket), Status::ok);
    ASSERT_TRUE(all.until([&] { return in[0] == out[0] || in[in.size() / 2] == out[0]; }));
    for (const Rank rank : {0, 1, 2}) all.close_port(rank);
    all.close(0);
  }
  EXPECT_FALSE(too_late.passed());
}

TEST_P(UcxPort, NoticesThatAnotherHasLeft) {
  Fabrics all({0, 1});
  int in = 0;
  const int out = 42;
  Port::Ticket sent = 0, received = 0;
  ASSERT_EQ(all[0].send(&out, sizeof out, 1, 3, sent), Status::ok);
  ASSERT_EQ(all[1].receive(&in, sizeof in, 0, 3, received), Status::ok);
  ASSERT_EQ(all.outcome(1, received), Status::ok);
  ASSERT_EQ(all.outcome(0, sent), Status::ok);
  ASSERT_EQ(all[1].receive(&in, sizeof in, 0, 3, received), Status::ok);
  all.close_port(0);
  all.close(0);
  EXPECT_EQ(all.outcome(1, received), Status::failed);
  EXPECT_TRUE(all.fabric(1).has_lost(0));
  EXPECT_FALSE(all.fabric(1).has_lost(1));
  EXPECT_EQ(all[1].send(&out, sizeof out, 0, 3, sent), Status::failed);
  EXPECT_EQ(all[1].look(), Status::ok);
}

/// What was sent last is not lost when its sender leaves: with a connection for answers only, or one for what
/// the other has sent, which breaks first.
TEST_P(UcxPort, SendsWhatWasSentBeforeItLeaves) {
  constexpr int many = 500;
  for (const bool both_send : {false, true}) {
    Fabrics all({0, 1});
    const auto packet = filled(4000, 1);
    auto in = filled(4000, 0);
    Port::Ticket ticket = 0;
    if (both_send) {
      ASSERT_EQ(all[1].send(packet.data(), packet.size(), 0, 3, ticket), Status::ok);
      ASSERT_EQ(all.outcome(1, ticket), Status::ok);
      ASSERT_EQ(all[0].receive(in.data(), in.size(), 1, 3, ticket), Status::ok);
      ASSERT_EQ(all.outcome(0, ticket), Status::ok);
    }
    for (int i = 0; i < many; ++i) {
      ASSERT_EQ(all[0].send(packet.data(), packet.size(), 1, 3, ticket), Status::ok);
      ASSERT_EQ(all.outcome(0, ticket), Status::ok);
    }
    all.close_port(0);
    all.close(0);
    for (int i = 0; i < many; ++i) {
      in = filled(4000, 0);
      ASSERT_EQ(all[1].receive(in.data(), in.size(), 0, 3, ticket), Status::ok);
      ASSERT_EQ(all.outcome(1, ticket), Status::ok) << i;
      ASSERT_EQ(in, packet);
    }
  }
}

TEST_P(UcxPort, SaysWhatCarriesItsMessages) {
  Fabrics all({0, 0, 1, 2});
  const std::string line = all.fabric(0).carriers();
  RecordProperty("carriers", line);
  EXPECT_NE(line.find("within this process"), std::string::npos) << line;
  EXPECT_NE(line.find("to 2"), std::string::npos) << line;
  EXPECT_NE(line.find("tcp/"), std::string::npos) << line;
}

std::string error_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(UcxFabric, SaysWhyItCannotOpenOrConnect) {
  const auto fabric = UcxFabric::open();
  const test::Address own(fabric->address().begin(), fabric->address().end());
  EXPECT_NE(error_of([&] { fabric->connect({}, {}); }), "");
  EXPECT_NE(error_of([&] { fabric->connect({own}, {0, 1}); }), "");
  const std::vector<std::uint32_t> too_many(Tag::most_ranks + 1, 0);
  EXPECT_NE(error_of([&] { fabric->connect({own}, too_many); }).find("1048576"), std::string::npos);
  fabric->connect({own}, {0});
  EXPECT_NE(error_of([&] { fabric->port(0, 2); }), "");
  EXPECT_NE(error_of([&] { fabric->port(1, 1); }), "");
  test::set_transports("no_such_transport");
  EXPECT_NE(error_of([] { UcxFabric::open(); }), "");
  test::set_transports("self");
  EXPECT_NE(error_of([] { Fabrics({0, 1}); }).find("process"), std::string::npos);
  test::set_transports("");
}

/// As in transport/messages_test.cpp, but each thread has a fabric of its own.
void in_threads(Rank ranks, const std::function<void(Rank, harness::Network&)>& body) {
  Board board(ranks);
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      test::Worker worker(board, rank, ranks);
      harness::Network network(std::move(worker.port), 10'000);
      body(rank, network);
      board.arrive();
      test::look_until([&] { network.progress(); },
                       [&] { return board.all_arrived() && network.has_left(); });
      network.close();
    });
  for (std::thread& t : threads) t.join();
}

TEST_P(UcxPort, CarriesMessagesOfAllSizesInOrderForANetwork) {
  const std::uint64_t seed = harness::test_seed();
  SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
  in_threads(3, [&](Rank me, harness::Network& network) {
    harness::carry_all_sizes_in_order(me, 3, network, seed, 0.2);
  });
}

TEST_P(UcxPort, KeepsOperationsOfANetworkApart) {
  const std::uint64_t seed = harness::test_seed();
  SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
  in_threads(
      3, [&](Rank me, harness::Network& network) { harness::keep_operations_apart(me, 3, network, seed); });
}

/// As a worker does it: one thread, a network for each rank that it serves.
TEST_P(UcxPort, ServesSeveralRanksFromOneThread) {
  Fabrics all({0, 0, 1, 1});
  std::vector<std::unique_ptr<harness::Network>> networks;
  for (Rank rank = 0; rank < all.ranks(); ++rank)
    networks.push_back(std::make_unique<harness::Network>(all.take(rank)));
  const auto members = harness::all(all.ranks());
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{5000}, std::size_t{300'000}, long_bytes}) {
    std::vector<harness::RingStep> steps;
    for (Rank rank = 0; rank < all.ranks(); ++rank) {
      steps.emplace_back(*networks[static_cast<std::size_t>(rank)], harness::world, members, rank, bytes, 1);
      steps.back().via->begin(static_cast<std::uint32_t>(bytes), 5, {});
    }
    const auto turn = [&] {
      for (harness::RingStep& step : steps) step.advance();
    };
    ASSERT_TRUE(test::look_until(turn, [&] {
      return std::ranges::all_of(steps, [](const harness::RingStep& step) { return step.has_ended(); });
    })) << bytes;
    for (const harness::RingStep& step : steps) EXPECT_TRUE(step.is_right());
  }
}

}  // namespace
}  // namespace hocket::worker
