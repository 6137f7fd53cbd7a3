// A worker process among ranks that are none: it goes on for those that are.
#include <cstring>
#include <random>

#include "harness/seed.hpp"
#include "worker/tag.hpp"
#include "workers.hpp"

namespace hocket::worker {
namespace {

class HostileRanks : public WorkersAnywhere {
 protected:
  /// One node, whose last ranks are liars.
  void start_with(int honest, int liars) {
    liars_ = liars;
    start(1, honest + liars);
  }

  /// Two that exchange; `lie` is what each of the others does, given its rank.
  std::vector<std::string> run(std::uint32_t times, const ForkedRanks::Body& lie, int they_wait_for = 0) {
    return ForkedRanks()
        .start_all(all_ranks(),
                   [&](int rank) {
                     if (rank >= partners()) return lie(rank);
                     Board::wait_for(board_->lied, they_wait_for);
                     return exchange(rank, 5, times);
                   })
        .wait();
  }

  static std::string refusal(Client& client) {
    for (const Deadline end(20); client.is_well() && !end.passed();) usleep(500);
    return client.is_well() ? "still served" : client.trouble();
  }

  void expect_right(const std::vector<std::string>& texts) const {
    for (int rank = 0; rank < partners(); ++rank) EXPECT_EQ(texts[static_cast<std::size_t>(rank)], "right");
  }
  void expect_refused(const std::vector<std::string>& texts) const {
    for (auto rank = static_cast<std::size_t>(partners()); rank < texts.size(); ++rank)
      EXPECT_NE(texts[rank].find("did not understand"), std::string::npos) << texts[rank];
  }
};

Bytes random_bytes(std::mt19937_64& random, std::size_t count) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST_P(HostileRanks, ThatSayAnythingAreRefusedAlone) {
  const std::uint64_t seed = harness::test_seed();
  start_with(2, 12);
  const auto texts = run(500, [&](int rank) {
    std::mt19937_64 random(seed + static_cast<unsigned>(rank));
    const auto client = arrive(rank);
    Bytes words = random_bytes(random, 100'000);
    // A command that is there as a whole: for the rest of one that only begins a worker waits.
    const CommandHead head{static_cast<CommandKind>(random() % 16),
                           8 + static_cast<unsigned>(random() % 1000)};
    std::memcpy(words.data(), &head, sizeof head);
    client->tell(words);
    return refusal(*client);
  });
  expect_right(texts);
  expect_refused(texts);
}

/// Words that mean nothing, without a pause.
TEST_P(HostileRanks, ThatNeverStopTalkingLeaveOthersTheirTurn) {
  start_with(2, 2);
  const auto texts = run(200, [&](int rank) {
    const auto client = arrive(rank);
    Bytes many;
    for (int i = 0; i < 500; ++i) {
      const Bytes one = encode(Abandon{9});
      many.insert(many.end(), one.begin(), one.end());
    }
    while (board_->finished.load() < partners())
      if (!client->tell(many)) return client->trouble();
    return std::string("served");
  });
  expect_right(texts);
  for (const std::size_t liar : {2U, 3U}) EXPECT_EQ(texts[liar], "served");
}

/// What the liar of this rank says of all workers; the right words, for who wants to change them.
Connect lie_of_workers(int number, const Client& client, int ranks) {
  const auto address = client.worker_address();
  const Bytes own(address.begin(), address.end());
  std::mt19937_64 random(static_cast<unsigned>(number));
  const std::vector<std::uint32_t> here(static_cast<std::size_t>(ranks), 0U);
  Bytes damaged = own;
  if (!damaged.empty()) damaged[damaged.size() / 2] ^= std::byte{1};
  switch (number) {
    case 0:
      return {{damaged.empty() ? random_bytes(random, 90) : damaged}, here};
    case 1: {
      std::vector<std::uint32_t> elsewhere = here;
      elsewhere[0] = 1;
      return {{own, random_bytes(random, own.empty() ? 50 : own.size())}, elsewhere};
    }
    case 2:
      return {{}, {}};
    case 3:
      return {{own}, {0}};
    case 4:
      return {{own, own}, here};
    default:
      return {{own}, std::vector<std::uint32_t>(Tag::most_ranks + 1, 0U)};
  }
}

TEST_P(HostileRanks, ThatLieOfOtherWorkersAreRefusedAlone) {
  if (!has_network()) GTEST_SKIP() << "no network between workers: built without UCX";
  start_with(2, 6);
  const auto texts = run(
      20,
      [&](int rank) {
        const auto client = arrive(rank);
        client->tell(encode(lie_of_workers(rank - partners(), *client, all_ranks())));
        std::string text = refusal(*client);
        board_->lied.fetch_add(1);
        Board::wait_for(board_->under_way, partners());  // a worker that nobody needs ends
        return text;
      },
      6);
  expect_right(texts);
  expect_refused(texts);
}

TEST_P(HostileRanks, ThatNameTheWorkersOnceMoreAreRefusedAlone) {
  start_with(2, 1);
  const auto texts = run(300, [&](int rank) {
    Board::wait_for(board_->under_way, partners());
    const auto client = arrive(rank);
    const auto address = client->worker_address();
    client->tell(encode(Connect{{{address.begin(), address.end()}}, {0, 0, 0}}));
    return refusal(*client);
  });
  expect_right(texts);
  expect_refused(texts);
}

/// Else it would get the messages of the one that it says it is.
TEST_P(HostileRanks, ThatAreAnotherRankAreRefusedAlone) {
  start_with(2, 2);
  const auto texts = run(300, [&](int rank) {
    Board::wait_for(board_->under_way, partners());
    Desks desks = Desks::attach(enter(entrance_number(0, getppid()), 20), test_version);
    Client client(std::move(desks), Client::Place{static_cast<std::uint32_t>(rank), rank - 2, 2, 20});
    client.tell(encode(Open{1, {7, 9}, rank - 2, {0, 1}}));
    return refusal(client);
  });
  expect_right(texts);
  expect_refused(texts);
}

/// And so are those who sit down where somebody is, or was.
TEST_P(HostileRanks, ThatTakeAnothersDeskAreRefused) {
  start_with(2, 3);
  const auto texts = run(300, [&](int rank) {
    Board::wait_for(board_->under_way, partners());
    std::string text;
    for (std::uint32_t desk = 0; desk < 6; ++desk) try {
        if (desk != 2 && desk < 5 && desk > 1) continue;  // nobody has come there
        Desks desks = Desks::attach(enter(entrance_number(0, getppid()), 20), test_version);
        Client client(std::move(desks), Client::Place{desk, rank, 2, 20});
        text += "sits at " + std::to_string(desk) + "; ";
      } catch (const Error& error) {
        text += std::string(error.what()).find("desk") != std::string::npos ? "refused; " : error.what();
      }
    return text;
  });
  expect_right(texts);
  int seated = 0;
  for (const std::size_t liar : {2U, 3U, 4U}) {
    EXPECT_EQ(texts[liar].substr(0, 18), "refused; refused; ") << texts[liar];
    EXPECT_EQ(texts[liar].substr(texts[liar].size() - 9), "refused; ") << texts[liar];
    seated += texts[liar].find("sits at 2") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(seated, 1);
}

/// The same process, which the kernel's locks do not keep from it.
TEST_P(HostileRanks, ThatSitDownTwiceAreRefused) {
  start(1, 1);
  const auto texts = ForkedRanks()
                         .start_all(1,
                                    [&](int rank) {
                                      const auto first = arrive(rank);
                                      try {
                                        const auto second = arrive(rank);
                                        return std::string("sits twice");
                                      } catch (const Error& error) {
                                        return std::string(error.what());
                                      }
                                    })
                         .wait();
  EXPECT_NE(texts[0].find("has served another process"), std::string::npos) << texts[0];
}

INSTANTIATE_TEST_SUITE_P(, HostileRanks, testing::Values(Seat::beside, Seat::remote),
                         [](const auto& seat) { return name_of(seat.param); });

}  // namespace
}  // namespace hocket::worker
