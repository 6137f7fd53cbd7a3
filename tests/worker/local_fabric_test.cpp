// Messages within one worker process (worker/local_fabric.hpp): what the port's contract says.
#include "worker/local_fabric.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "harness/seed.hpp"

namespace hocket::worker {
namespace {

using transports::mpi::Port;

class Fabric3 : public ::testing::Test {
 protected:
  /// Ranks 0, 1 and 2 here, 3 elsewhere.
  void SetUp() override {
    fabric.connect({{}, {}}, {0, 0, 0, 1});
    for (Rank rank = 0; rank < 3; ++rank) ports.push_back(fabric.port(rank, 4));
  }

  Port::Ticket send(Rank from, Rank to, std::uint32_t tag, const std::string& text) {
    Port::Ticket ticket = 0;
    EXPECT_EQ(ports[static_cast<std::size_t>(from)]->send(text.data(), text.size(), to, tag, ticket),
              Status::ok);
    return ticket;
  }
  Port::Ticket receive(Rank self, Rank from, std::uint32_t tag, std::string& text) {
    Port::Ticket ticket = 0;
    EXPECT_EQ(ports[static_cast<std::size_t>(self)]->receive(text.data(), text.size(), from, tag, ticket),
              Status::ok);
    return ticket;
  }
  Status test(Rank rank, Port::Ticket ticket) { return ports[static_cast<std::size_t>(rank)]->test(ticket); }

  LocalFabric fabric;
  std::vector<std::unique_ptr<Port>> ports;
};

TEST_F(Fabric3, CarriesWhatWaitsForAReceive) {
  const std::string sent = "hello";
  const auto sending = send(0, 1, 7, sent);
  EXPECT_EQ(test(0, sending), Status::pending);
  std::string got(5, ' ');
  EXPECT_EQ(test(1, receive(1, 0, 7, got)), Status::ok);
  EXPECT_EQ(test(0, sending), Status::ok);
  EXPECT_EQ(got, sent);
}

TEST_F(Fabric3, CarriesWhatIsWaitedFor) {
  std::string got(5, ' '), to_itself(2, ' ');
  const auto receiving = receive(1, 0, 7, got);
  const auto own = receive(1, 1, 7, to_itself);
  EXPECT_EQ(test(1, receiving), Status::pending);
  const std::string sent = "hello", own_sent = "me";
  EXPECT_EQ(test(0, send(0, 1, 7, sent)), Status::ok);
  EXPECT_EQ(test(1, send(1, 1, 7, own_sent)), Status::ok);
  EXPECT_EQ(test(1, receiving), Status::ok);
  EXPECT_EQ(test(1, own), Status::ok);
  EXPECT_EQ(got + to_itself, "hellome");
}

TEST_F(Fabric3, HearsInTheOrderOfComing) {
  const std::string first = "a", second = "b", third = "c";
  send(0, 2, 0, first);
  send(1, 2, 0, second);
  std::array<std::string, 3> heard{" ", " ", " "};
  Port& port = *ports[2];
  for (const std::uint32_t place : {2U, 0U, 1U})
    EXPECT_EQ(port.listen(place, heard[place].data(), 1), Status::ok);
  send(0, 2, 0, third);
  EXPECT_EQ(port.look(), Status::ok);
  std::string order;
  std::uint32_t place = 0;
  for (Rank from = 0; port.heard(place, from);) order += std::to_string(from) + heard[place];
  EXPECT_EQ(order, "0a1b0c");
}

TEST_F(Fabric3, TakesBackWhatHasMetNothing) {
  const std::string lost = "lost", sent = "sent";
  std::string given_up(4, ' '), got(4, ' ');
  ports[0]->abandon(send(0, 1, 7, lost));
  ports[1]->abandon(receive(1, 0, 7, given_up));
  const auto receiving = receive(1, 0, 7, got);
  send(0, 1, 7, sent);
  EXPECT_EQ(test(1, receiving), Status::ok);
  EXPECT_EQ(got, "sent");
  EXPECT_EQ(given_up, "    ");
}

TEST_F(Fabric3, LetsSendersGoOnWhereNobodyReceives) {
  const std::string text = "text";
  const auto before = send(0, 1, 7, text);
  std::string got(4, ' ');
  const auto receiving = receive(2, 1, 7, got);
  ports[1].reset();
  EXPECT_EQ(test(0, before), Status::ok);
  EXPECT_EQ(test(0, send(0, 1, 8, text)), Status::ok) << "to a rank that has left";
  EXPECT_EQ(test(0, send(0, 3, 8, text)), Status::ok) << "to a rank that another process serves";
  EXPECT_EQ(test(2, receiving), Status::pending);
}

TEST_F(Fabric3, FailsWhereAMessageIsTooLong) {
  const std::string text = "long";
  std::string got(3, ' ');
  send(0, 1, 7, text);
  EXPECT_EQ(test(1, receive(1, 0, 7, got)), Status::failed);
  EXPECT_EQ(ports[1]->listen(0, got.data(), 3), Status::ok);
  send(0, 1, 0, text);
  EXPECT_EQ(ports[1]->look(), Status::failed);
}

TEST_F(Fabric3, HasPortsForRanksOfTheJob) {
  EXPECT_THROW(fabric.port(4, 4), Error);
  EXPECT_THROW(fabric.port(0, 3), Error);
}

/// Of each pair and tag the messages come in their order, whoever is first.
TEST_F(Fabric3, KeepsTheOrderOfAPair) {
  std::mt19937_64 random(harness::test_seed());
  struct Lane {
    Rank from, to;
    std::uint32_t tag;
    std::deque<std::string> sent, received;  // which stay where they are
    std::vector<Port::Ticket> sends, receives;
  };
  std::deque<Lane> lanes;
  for (Rank from = 0; from < 3; ++from)
    for (Rank to = 0; to < 3; ++to)
      for (std::uint32_t tag = 1; tag < 3; ++tag) lanes.push_back({from, to, tag, {}, {}, {}, {}});
  for (int i = 0; i < 5000; ++i) {
    Lane& lane = lanes[random() % lanes.size()];
    if (random() % 2 == 0) {
      lane.sent.push_back("message " + std::to_string(1000 + lane.sent.size()));
      lane.sends.push_back(send(lane.from, lane.to, lane.tag, lane.sent.back()));
    } else {
      lane.received.emplace_back(12, ' ');
      lane.receives.push_back(receive(lane.to, lane.from, lane.tag, lane.received.back()));
    }
  }
  for (Lane& lane : lanes) {
    const std::size_t both = std::min(lane.sends.size(), lane.receives.size());
    for (std::size_t i = 0; i < lane.receives.size(); ++i) {
      ASSERT_EQ(test(lane.to, lane.receives[i]), i < both ? Status::ok : Status::pending);
      if (i < both) {
        ASSERT_EQ(lane.received[i], lane.sent[i]);
      }
    }
    for (std::size_t i = 0; i < lane.sends.size(); ++i)
      ASSERT_EQ(test(lane.from, lane.sends[i]), i < both ? Status::ok : Status::pending);
  }
}

}  // namespace
}  // namespace hocket::worker
