// The port over UCX when a peer is a process of its own, which dies or stands still: an error in time, never
// a hang, and no memory that is written to later. Ranks are forked; this process itself never opens UCX.
#include <gtest/gtest.h>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "harness/forked_ranks.hpp"
#include "worker/fabrics.hpp"

namespace hocket::worker {
namespace {

using test::Board;
using test::filled;
using test::ForkedRanks;
using test::Worker;
using transports::mpi::Port;

constexpr std::size_t short_bytes = 100, huge_bytes = 64'000'000;
constexpr double too_long_seconds = 5;

std::string text_of(Status status) {
  return status == Status::ok ? "ok" : status == Status::pending ? "pending" : "failed";
}

/// A message in each direction.
void meet(Worker& worker, Rank peer) {
  const auto out = filled(short_bytes, 1);
  auto in = filled(short_bytes, 0);
  Port::Ticket received = 0;
  worker.port->receive(in.data(), in.size(), peer, 1, received);
  worker.send(out, peer, 1);
  worker.outcome(received);
}

/// It has been killed, and nothing of it listens any more: until then the system still connects to it.
void wait_for_end(pid_t peer) {
  const int file = static_cast<int>(syscall(SYS_pidfd_open, peer, 0U));
  pollfd ended{file, POLLIN, 0};
  if (file < 0) return;
  poll(&ended, 1, 20'000);
  close(file);
}

std::string lost(Worker& worker) {
  return worker.until([&] { return worker.fabric->has_lost(1); }) ? "lost" : "not lost";
}

std::string and_lost(Worker& worker, Status status) {
  return text_of(status) + ", " + lost(worker);
}

void look_times(Worker& worker, int times) {
  for (int i = 0; i < times; ++i) worker.port->look();
}

class UcxProcesses : public testing::TestWithParam<const char*> {
 protected:
  using Peer = std::function<void(Worker&)>;
  using Body = std::function<std::string(Worker&, pid_t peer)>;

  /// Rank 0 does `body`, and what it says is returned. Rank 1 does `peer` and looks until it is killed.
  static std::string between_two(const Peer& peer, const Body& body) {
    Board addresses(2), pids(2);
    ForkedRanks ranks;
    ranks.start_all(2, [&](int rank) {
      const pid_t own = getpid();
      const auto told = pids.exchange(rank, std::as_bytes(std::span(&own, 1)));
      pid_t other = 0;
      std::memcpy(&other, told[1].data(), sizeof other);
      Worker worker(addresses, rank, 2);
      if (rank == 1) {
        peer(worker);
        for (;;) look_times(worker, 1);
      }
      const std::string said = body(worker, other);
      kill(other, SIGKILL);
      return said;
    });
    const auto said = ranks.wait();
    EXPECT_EQ(said[1], "signal 9");
    return said[0];
  }
  void SetUp() override { test::set_transports(GetParam()); }
  void TearDown() override { test::set_transports(""); }
};

INSTANTIATE_TEST_SUITE_P(Transports, UcxProcesses, testing::Values("", "tcp,self"),
                         [](const auto& info) { return test::name_of_transports(info.param); });

void meet_first(Worker& worker) {
  meet(worker, 0);
}

TEST_P(UcxProcesses, CarryLongMessages) {
  const auto send_back = [](Worker& worker) {
    auto data = filled(huge_bytes, 0);
    worker.receive(data, 0, 2);
    worker.send(data, 0, 2);
  };
  EXPECT_EQ(between_two(send_back,
                        [](Worker& worker, pid_t) {
                          const auto out = filled(huge_bytes, 3);
                          auto in = filled(huge_bytes, 0);
                          if (worker.send(out, 1, 2) != Status::ok) return "not sent";
                          if (worker.receive(in, 1, 2) != Status::ok) return "not received";
                          return in == out ? "the same" : "different";
                        }),
            "the same");
}

TEST_P(UcxProcesses, ThatDieFailReceivesFromThem) {
  EXPECT_EQ(between_two(meet_first,
                        [](Worker& worker, pid_t peer) {
                          meet(worker, 1);
                          auto in = filled(short_bytes, 0);
                          Port::Ticket ticket = 0;
                          worker.port->receive(in.data(), in.size(), 1, 2, ticket);
                          look_times(worker, 100);
                          kill(peer, SIGKILL);
                          return and_lost(worker, worker.outcome(ticket));
                        }),
            "failed, lost");
}

/// Only the other side has sent anything: this one has not connected to it.
TEST_P(UcxProcesses, ThatDieFailReceivesOfWhoHasOnlyReceived) {
  const auto send_one = [](Worker& worker) { worker.send(filled(short_bytes, 1), 0, 1); };
  EXPECT_EQ(between_two(send_one,
                        [](Worker& worker, pid_t peer) {
                          auto in = filled(short_bytes, 0);
                          if (worker.receive(in, 1, 1) != Status::ok) return std::string("not received");
                          Port::Ticket ticket = 0;
                          worker.port->receive(in.data(), in.size(), 1, 2, ticket);
                          look_times(worker, 100);
                          kill(peer, SIGKILL);
                          return and_lost(worker, worker.outcome(ticket));
                        }),
            "failed, lost");
}

/// Nothing has come from there: there is no connection whose end would say that nothing will.
TEST_P(UcxProcesses, ThatDieFailReceivesOfWhoHasOnlySent) {
  EXPECT_EQ(between_two([](Worker&) {},
                        [](Worker& worker, pid_t peer) {
                          worker.send(filled(short_bytes, 1), 1, 1);
                          auto in = filled(short_bytes, 0);
                          Port::Ticket ticket = 0;
                          worker.port->receive(in.data(), in.size(), 1, 2, ticket);
                          look_times(worker, 100);
                          kill(peer, SIGKILL);
                          return and_lost(worker, worker.outcome(ticket));
                        }),
            "failed, lost");
}

TEST_P(UcxProcesses, ThatDieFailSendsToThem) {
  EXPECT_EQ(between_two(meet_first,
                        [](Worker& worker, pid_t peer) {
                          meet(worker, 1);
                          const auto out = filled(huge_bytes, 1);
                          Port::Ticket ticket = 0;
                          worker.port->send(out.data(), out.size(), 1, 2, ticket);
                          look_times(worker, 100);
                          kill(peer, SIGKILL);
                          return and_lost(worker, worker.outcome(ticket));
                        }),
            "failed, lost");
}

/// What they have sent before is received all the same.
TEST_P(UcxProcesses, ThatDieLeaveWhatHasCome) {
  const auto send_two = [](Worker& worker) {
    meet(worker, 0);
    worker.send(filled(short_bytes, 5), 0, 2);
    meet(worker, 0);
  };
  EXPECT_EQ(between_two(send_two,
                        [](Worker& worker, pid_t peer) {
                          meet(worker, 1);
                          meet(worker, 1);
                          kill(peer, SIGKILL);
                          worker.until([&] { return worker.fabric->has_lost(1); });
                          look_times(worker, 100);
                          auto in = filled(short_bytes, 0), more = in;
                          const Status first = worker.receive(in, 1, 2);
                          return text_of(first) + ", " + text_of(worker.receive(more, 1, 2));
                        }),
            "ok, failed");
}

/// A connection that was never made: sending makes it. UCX may have taken a short message, as the port's ok
/// says, before it hears that nobody is there; so it is when a peer dies with messages on their way.
TEST_P(UcxProcesses, ThatDieAreNoticedByTheFirstSend) {
  EXPECT_EQ(between_two([](Worker&) {},
                        [](Worker& worker, pid_t peer) {
                          kill(peer, SIGKILL);
                          wait_for_end(peer);
                          const auto out = filled(short_bytes, 1);
                          Port::Ticket ticket = 0;
                          if (worker.port->send(out.data(), out.size(), 1, 0, ticket) == Status::ok)
                            worker.outcome(ticket);
                          return lost(worker);
                        }),
            "lost");
}

/// The receive has met the beginning of its message.
TEST_P(UcxProcesses, ThatDieInTheMiddleOfAMessageFailIt) {
  const auto begin = [](Worker& worker) {
    meet(worker, 0);
    const auto out = filled(huge_bytes, 7);
    Port::Ticket ticket = 0;
    worker.port->send(out.data(), out.size(), 0, 2, ticket);
    for (;;) look_times(worker, 1);
  };
  EXPECT_EQ(between_two(begin,
                        [](Worker& worker, pid_t peer) {
                          meet(worker, 1);
                          auto in = filled(huge_bytes, 0);
                          Port::Ticket ticket = 0;
                          worker.port->receive(in.data(), in.size(), 1, 2, ticket);
                          worker.until([&] { return in[0] != std::byte{0}; });
                          kill(peer, SIGKILL);
                          const std::string said = and_lost(worker, worker.outcome(ticket));
                          const auto before = in;
                          look_times(worker, 1000);
                          return said + (in == before ? "" : ", written to later");
                        }),
            "failed, lost");
}

/// The place is there for others again.
TEST_P(UcxProcesses, ThatDieInTheMiddleOfAMessageLeaveThePlaceThatHasHeardIt) {
  const auto begin = [](Worker& worker) {
    meet(worker, 0);
    const auto out = filled(huge_bytes, 7);
    Port::Ticket ticket = 0;
    worker.port->send(out.data(), out.size(), 0, 0, ticket);
    for (;;) look_times(worker, 1);
  };
  EXPECT_EQ(between_two(begin,
                        [](Worker& worker, pid_t peer) {
                          meet(worker, 1);
                          auto in = filled(huge_bytes, 0);
                          const auto out = filled(short_bytes, 1);
                          worker.port->listen(2, in.data(), in.size());
                          worker.until([&] { return in[0] != std::byte{0}; });
                          kill(peer, SIGKILL);
                          worker.until([&] { return worker.fabric->has_lost(1); });
                          worker.send(out, 0, 0);
                          std::uint32_t place = 0;
                          Rank from = -1;
                          worker.until([&] { return worker.port->heard(place, from); });
                          return std::to_string(place) + " from " + std::to_string(from);
                        }),
            "2 from 0");
}

TEST_P(UcxProcesses, ThatGoOnLetAReceiveBeAbandoned) {
  const auto send_much = [](Worker& worker) {
    meet(worker, 0);
    worker.send(filled(huge_bytes, 7), 0, 2);
    meet(worker, 0);
  };
  EXPECT_EQ(between_two(send_much,
                        [](Worker& worker, pid_t) {
                          meet(worker, 1);
                          auto in = filled(huge_bytes, 0);
                          Port::Ticket ticket = 0;
                          worker.port->receive(in.data(), in.size(), 1, 2, ticket);
                          worker.until([&] { return in[0] != std::byte{0}; });
                          worker.port->abandon(ticket);
                          const auto before = in;
                          meet(worker, 1);
                          return std::string(in == before ? "left alone" : "written to") +
                                 (worker.fabric->has_lost(1) ? ", lost" : "");
                        }),
            "left alone");
}

TEST_P(UcxProcesses, ThatStandStillAreGivenUpByWhoAbandonsAReceive) {
  const auto send_much = [](Worker& worker) {
    meet(worker, 0);
    worker.send(filled(huge_bytes, 7), 0, 2);
  };
  EXPECT_EQ(between_two(send_much,
                        [](Worker& worker, pid_t peer) {
                          meet(worker, 1);
                          auto in = filled(huge_bytes, 0);
                          Port::Ticket ticket = 0;
                          worker.port->receive(in.data(), in.size(), 1, 2, ticket);
                          worker.until([&] { return in[0] != std::byte{0}; });
                          kill(peer, SIGSTOP);
                          look_times(worker, 1000);
                          const Deadline deadline(too_long_seconds);
                          worker.port->abandon(ticket);
                          const std::string said = deadline.passed() ? "late" : "in time";
                          const auto before = in;
                          kill(peer, SIGCONT);
                          look_times(worker, 1000);
                          return said + (in == before ? "" : ", written to later") +
                                 (worker.fabric->has_lost(1) ? ", lost" : "") +
                                 (worker.fabric->is_open() ? "" : ", all given up");
                        }),
            "in time, lost");
}

TEST_P(UcxProcesses, ThatStandStillCanBeGivenUp) {
  EXPECT_EQ(between_two(meet_first,
                        [](Worker& worker, pid_t peer) {
                          meet(worker, 1);
                          kill(peer, SIGSTOP);
                          const auto much = filled(huge_bytes, 1);
                          auto in = filled(short_bytes, 0);
                          Port::Ticket received = 0, sent = 0;
                          worker.port->receive(in.data(), in.size(), 1, 2, received);
                          worker.port->send(much.data(), much.size(), 1, 2, sent);
                          look_times(worker, 100);
                          worker.fabric->lose(1);
                          return text_of(worker.outcome(received)) + ", " + text_of(worker.outcome(sent));
                        }),
            "failed, failed");
}

/// Whatever has been sent to them, and whether they have answered.
TEST_P(UcxProcesses, ThatLookLetOthersLeaveAtOnce) {
  const auto receive_one = [](Worker& worker) {
    auto in = filled(short_bytes, 0);
    worker.receive(in, 0, 2);
  };
  EXPECT_EQ(between_two(receive_one,
                        [](Worker& worker, pid_t) {
                          const auto little = filled(short_bytes, 1), much = filled(huge_bytes / 64, 1);
                          Port::Ticket ticket = 0;
                          worker.send(little, 1, 2);
                          worker.port->send(much.data(), much.size(), 1, 3, ticket);
                          const Deadline deadline(0.9);
                          worker.port.reset();
                          worker.fabric.reset();
                          return std::string(deadline.passed() ? "late" : "at once");
                        }),
            "at once");
}

TEST_P(UcxProcesses, ThatStandStillDoNotKeepAnybodyFromLeaving) {
  EXPECT_EQ(between_two(meet_first,
                        [](Worker& worker, pid_t peer) {
                          meet(worker, 1);
                          kill(peer, SIGSTOP);
                          const auto much = filled(huge_bytes, 1), little = filled(4000, 1);
                          Port::Ticket ticket = 0;
                          worker.port->send(much.data(), much.size(), 1, 2, ticket);
                          for (int i = 0; i < 5000; ++i)
                            worker.port->send(little.data(), little.size(), 1, 3, ticket);
                          look_times(worker, 100);
                          const Deadline deadline(too_long_seconds);
                          worker.port.reset();
                          worker.fabric.reset();
                          return std::string(deadline.passed() ? "late" : "in time");
                        }),
            "in time");
}

/// Others go on.
TEST_P(UcxProcesses, ThatSurviveGoOn) {
  constexpr int ranks = 3;
  Board addresses(ranks), ends(2);
  ForkedRanks forked;
  forked.start_all(ranks, [&](int rank) -> std::string {
    Worker worker(addresses, rank, ranks);
    if (rank == 2) {
      for (const Rank other : {0, 1}) meet(worker, other);
      raise(SIGKILL);
    }
    meet(worker, 2);
    const bool noticed = worker.until([&] { return worker.fabric->has_lost(2); });
    meet(worker, 1 - rank);
    const auto out = filled(huge_bytes / 8, rank + 1);
    auto in = filled(huge_bytes / 8, 0);
    Port::Ticket ticket = 0;
    worker.port->receive(in.data(), in.size(), 1 - rank, 2, ticket);
    const Status sent = worker.send(out, 1 - rank, 2), received = worker.outcome(ticket);
    ends.arrive();
    worker.until([&] { return ends.all_arrived(); });
    return text_of(sent) + ", " + text_of(received) + (noticed ? ", noticed" : "") +
           (in == filled(in.size(), 2 - rank) ? "" : ", different");
  });
  EXPECT_EQ(forked.wait(), (std::vector<std::string>{"ok, ok, noticed", "ok, ok, noticed", "signal 9"}));
}

}  // namespace
}  // namespace hocket::worker
