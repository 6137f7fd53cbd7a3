// Conformance of the transports in shared memory, with and without injected faults: ranks are threads, memory
// is a vector.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "executors/blocking.hpp"
#include "harness/memory.hpp"
#include "transports/fake/faults.hpp"
#include "transports/shm/cells.hpp"
#include "transports/shm/channel.hpp"
#include "transports/shm/staging.hpp"

namespace hocket::transports {
namespace {

using shm::Channel;

using test::Memory;

void in_threads(Rank ranks, const std::function<void(Rank)>& body) {
  std::vector<std::thread> threads;
  for (Rank r = 0; r < ranks; ++r) threads.emplace_back([&, r] { body(r); });
  for (std::thread& t : threads) t.join();
}

Waiting yielding(Watch* watch = nullptr) {
  return {WaitMode::yield, nullptr, nullptr, watch, nullptr};
}

/// Sends and receives one message at once, as a round does.
Status exchange(TwoSided& via, Transfer& out, Transfer& in) {
  Status sent = Status::pending;
  Status got = Status::pending;
  while (sent == Status::pending || got == Status::pending) {
    if (sent == Status::pending) sent = via.advance_send(out);
    if (got == Status::pending) got = via.advance_recv(in);
    std::this_thread::yield();
  }
  return sent == Status::ok ? got : sent;
}

class CellsUnderFaults : public testing::TestWithParam<double> {};

TEST_P(CellsUnderFaults, CarriesMessagesOfAllSizesInOrder) {
  constexpr Rank ranks = 3;
  Memory lines(shm::bytes_for(ranks));
  Memory cells(shm::cells_bytes(ranks));
  in_threads(ranks, [&](Rank me) {
    Channel channel(lines.get(), ranks, me, yielding());
    shm::Cells below(cells.get(), ranks, me, channel.waiting());
    fake::FaultyTwoSided via(below, {.seed = static_cast<std::uint64_t>(me) + 7, .pending = GetParam()});
    std::mt19937_64 sizes(42);
    for (int i = 0; i < 60; ++i) {
      const std::size_t bytes = i % 3 == 0 ? sizes() % 64 : sizes() % 300'000;
      std::vector<std::byte> out(bytes, static_cast<std::byte>(me * 31 + i));
      std::vector<std::byte> in(bytes);
      const Rank to = (me + 1) % ranks;
      const Rank from = (me + ranks - 1) % ranks;
      const std::size_t half = bytes / 2;
      const Piece out_pieces[] = {{out.data(), half}, {out.data() + half, bytes - half}};
      const Piece in_pieces[] = {{in.data(), bytes}};
      Transfer send{.peer = to, .pieces = out_pieces, .total = bytes};
      Transfer recv{.peer = from, .pieces = in_pieces, .total = bytes};
      ASSERT_EQ(exchange(via, send, recv), Status::ok);
      ASSERT_EQ(in, std::vector<std::byte>(bytes, static_cast<std::byte>(from * 31 + i)));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Pending, CellsUnderFaults, testing::Values(0.0, 0.3, 0.9));

TEST(Cells, NoticeSizesThatDoNotAgree) {
  constexpr Rank ranks = 2;
  Memory lines(shm::bytes_for(ranks));
  Memory cells(shm::cells_bytes(ranks));
  in_threads(ranks, [&](Rank me) {
    Channel channel(lines.get(), ranks, me, yielding());
    shm::Cells via(cells.get(), ranks, me, channel.waiting());
    std::byte data[64]{};
    const Piece pieces[] = {{data, 64}};
    if (me == 0) {
      Transfer send{.peer = 1, .pieces = pieces, .total = 64};
      EXPECT_EQ(via.advance_send(send), Status::ok);
      return;
    }
    const Piece shorter[] = {{data, 8}};
    Transfer recv{.peer = 0, .pieces = shorter, .total = 8};
    Status got = Status::pending;
    while (got == Status::pending) got = via.advance_recv(recv);
    EXPECT_EQ(got, Status::mismatch);
  });
}

TEST(Channel, LetsNobodyOverwriteWhatALateRankStillReads) {
  constexpr Rank ranks = 3;
  constexpr int calls = 5000;
  Memory lines(shm::bytes_for(ranks));
  in_threads(ranks, [&](Rank me) {
    Channel channel(lines.get(), ranks, me, yielding());
    for (int i = 1; i <= calls; ++i) {
      ASSERT_EQ(channel.begin_with_payload(5, 2000), Status::ok);
      if (me == 0) {  // a broadcast: nothing but the ring's bound holds rank 0 back
        std::memcpy(channel.own_payload(), &i, sizeof i);
        channel.announce();
      } else {
        ASSERT_EQ(channel.arrived(0), Status::ok);
        int got = 0;
        std::memcpy(&got, channel.payload_of(0), sizeof got);
        ASSERT_EQ(got, i);
      }
      channel.finish_now();
    }
  });
}

TEST(Channel, LetsNobodyOverwriteALineThatALateRankStillReads) {
  constexpr Rank ranks = 3;
  constexpr int calls = 5000;
  Memory lines(shm::bytes_for(ranks));
  in_threads(ranks, [&](Rank me) {
    Channel channel(lines.get(), ranks, me, yielding());
    for (int i = 1; i <= calls; ++i) {
      ASSERT_EQ(channel.begin(5), Status::ok);
      if (me == 0) {  // a broadcast: nothing but the ring's bound holds rank 0 back
        std::memcpy(channel.own_line().payload.data(), &i, sizeof i);
        channel.announce();
      } else {
        ASSERT_EQ(channel.arrived(0), Status::ok);
        int got = 0;
        std::memcpy(&got, channel.line_of(0).payload.data(), sizeof got);
        ASSERT_EQ(got, i);
      }
      channel.finish();
    }
  });
}

TEST(Channel, TellsAnotherCallFromALateOne) {
  constexpr Rank ranks = 2;
  Memory lines(shm::bytes_for(ranks));
  in_threads(ranks, [&](Rank me) {
    Channel channel(lines.get(), ranks, me, yielding());
    ASSERT_EQ(channel.begin(me == 0 ? 11 : 13), Status::ok);
    channel.announce();
    EXPECT_EQ(channel.arrived(1 - me), Status::mismatch);
  });
}

TEST(Channel, RemembersACallThatDifferedWhileNobodyLooked) {
  constexpr Rank ranks = 2;
  Memory lines(shm::bytes_for(ranks));
  in_threads(ranks, [&](Rank me) {
    Channel channel(lines.get(), ranks, me, yielding());
    ASSERT_EQ(channel.begin(me == 0 ? 11 : 13), Status::ok);  // two roots, say: nobody waits for anybody
    channel.announce();
    channel.finish();
    ASSERT_EQ(channel.begin(17), Status::ok);
    channel.announce();
    EXPECT_EQ(channel.arrived(1 - me), Status::mismatch);
  });
}

TEST(Turns, ForgetHowLongAgoAnAreaWasUsed) {
  shm::Turns<4, 64> turns;
  EXPECT_EQ(turns.take(3), 0U);              // never used: as if by instance 0
  EXPECT_EQ(turns.take(1000), 1000U - 64U);  // never used, long ago
  turns.take(1001);
  turns.take(1002);
  EXPECT_EQ(turns.take(1003), 1003U - 64U);  // by instance 3: over for sure
  const std::uint32_t much_later = 1000U + (1U << 31U) + 5U;
  EXPECT_EQ(turns.take(much_later),
            much_later - 64U);  // half the numbers later: still the past, not the future
}

/// Ends every long wait.
class Impatient final : public Watch {
 public:
  Status look(Rank, std::uint64_t) noexcept override { return Status::peer_dead; }
};

TEST(Channel, EndsAWaitWhenTheWatchSaysSo) {
  constexpr Rank ranks = 2;
  Memory lines(shm::bytes_for(ranks));
  Impatient watch;
  Channel channel(lines.get(), ranks, 0, yielding(&watch));
  ASSERT_EQ(channel.begin(3), Status::ok);
  channel.announce();
  EXPECT_EQ(channel.arrived(1), Status::peer_dead);
}

TEST(Staging, StepsComeAfterTheDataTheyAnnounce) {
  constexpr Rank ranks = 4;
  Memory lines(shm::bytes_for(ranks));
  Memory staging(shm::staging_bytes(ranks));
  in_threads(ranks, [&](Rank me) {
    Channel channel(lines.get(), ranks, me, yielding());
    shm::Staging below(channel);
    below.use(staging.get());
    fake::FaultyOneSided via(below, {.seed = static_cast<std::uint64_t>(me) + 1, .pending = 0.5});
    for (int i = 0; i < 300; ++i) {
      ASSERT_EQ(below.begin(9), Status::ok);
      std::memcpy(via.own_staging() + 128, &i, sizeof i);
      via.signal(1);
      for (Rank r = 0; r < ranks; ++r) {
        while (r != me && via.reached(r, 1) == Status::pending) std::this_thread::yield();
        int got = -1;
        std::memcpy(&got, via.staging_of(r) + 128, sizeof got);
        ASSERT_EQ(got, i);
      }
      below.finish();
    }
  });
}

TEST(Faults, AFailingTransportEndsTheTransfer) {
  constexpr Rank ranks = 2;
  Memory lines(shm::bytes_for(ranks));
  Memory cells(shm::cells_bytes(ranks));
  Channel channel(lines.get(), ranks, 0, yielding());
  shm::Cells below(cells.get(), ranks, 0, channel.waiting());
  fake::FaultyTwoSided via(below, {.fail_after = 1});
  std::byte data{};
  const Piece pieces[] = {{&data, 1}};
  Transfer first{.peer = 1, .pieces = pieces, .total = 1};
  EXPECT_EQ(via.advance_send(first), Status::ok);
  Transfer second{.peer = 1, .pieces = pieces, .total = 1};
  EXPECT_EQ(via.advance_send(second), Status::peer_dead);
}

}  // namespace
}  // namespace hocket::transports
