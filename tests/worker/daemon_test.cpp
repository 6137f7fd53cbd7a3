// Workers as processes, and ranks that hand operations over to them, without any MPI.
#include "workers.hpp"

namespace hocket::worker {
namespace {

TEST_P(WorkersAnywhere, OfOneNodeCarryAnAlltoallOut) {
  start(1, 3);
  const auto texts = ForkedRanks().start_all(3, [this](int rank) { return exchange(rank, 5, 20); }).wait();
  EXPECT_EQ(texts, std::vector<std::string>(3, "right"));
}

TEST_P(WorkersAnywhere, OfTwoNodesCarryAnAlltoallOut) {
  if (!has_network()) GTEST_SKIP() << "no network between workers: built without UCX";
  start(2, 2);
  const auto texts = ForkedRanks().start_all(4, [this](int rank) { return exchange(rank, 5, 20); }).wait();
  EXPECT_EQ(texts, std::vector<std::string>(4, "right"));
}

TEST_P(WorkersAnywhere, LongMessages) {
  if (!has_network()) GTEST_SKIP() << "no network between workers: built without UCX";
  start(2, 1);
  const auto texts =
      ForkedRanks().start_all(2, [this](int rank) { return exchange(rank, 1'000'000, 3); }).wait();
  EXPECT_EQ(texts, std::vector<std::string>(2, "right"));
}

TEST_P(WorkersAnywhere, EndWithTheirRanks) {
  start(1, 1);
  EXPECT_EQ(ForkedRanks().start_all(1, [this](int rank) { return exchange(rank, 5, 1); }).wait()[0], "right");
  int status = -1;
  ASSERT_TRUE(ends(daemons_[0], &status));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  daemons_.clear();
}

TEST_P(WorkersAnywhere, AKilledRankIsAnErrorOfTheOthers) {
  start(1, 2);
  ForkedRanks ranks;
  ranks.start(0, [this](int rank) { return exchange(rank, 5, 1'000'000); });
  ranks.start(1, [this](int rank) { return exchange(rank, 5, 1'000'000); });
  Board::wait_for(board_->under_way, all_ranks());
  kill(ranks.pid(1), SIGKILL);
  const auto texts = ranks.wait();
  EXPECT_NE(texts[0].find("rank 1 of the job (pid"), std::string::npos) << texts[0];
  EXPECT_EQ(texts[1], "signal 9");
}

TEST_P(WorkersAnywhere, AKilledWorkerIsNoticed) {
  start(1, 2);
  ForkedRanks ranks;
  ranks.start_all(2, [this](int rank) { return exchange(rank, 5, 1'000'000); });
  Board::wait_for(board_->under_way, all_ranks());
  kill(daemons_[0], SIGKILL);
  for (const std::string& text : ranks.wait())
    EXPECT_EQ(text.substr(0, 8), "status " + std::to_string(static_cast<int>(Status::peer_dead))) << text;
}

TEST_P(WorkersAnywhere, AStoppedWorkerIsNoticed) {
  start(1, 1);
  ForkedRanks ranks;
  ranks.start(0, [this](int rank) { return exchange(rank, 5, 1'000'000); });
  Board::wait_for(board_->under_way, all_ranks());
  kill(daemons_[0], SIGSTOP);
  const std::string text = ranks.wait()[0];
  EXPECT_EQ(text.substr(0, 8), "status " + std::to_string(static_cast<int>(Status::peer_dead))) << text;
}

TEST_P(WorkersAnywhere, WhoSaysNonsenseIsGivenUpAlone) {
  start(1, 2);
  ForkedRanks ranks;
  ranks.start(0, [this](int rank) {
    const auto client = arrive(rank);
    const Bytes nonsense(40, std::byte{0xff});
    client->tell(nonsense);
    for (const Deadline end(10); client->is_well() && !end.passed();) usleep(1000);
    return client->is_well() ? std::string("still served") : client->trouble();
  });
  ranks.start(1, [this](int rank) {
    const auto client = arrive(rank);
    usleep(500'000);
    return std::string(client->is_well() ? "served" : "not served");
  });
  const auto texts = ranks.wait();
  EXPECT_NE(texts[0].find("did not understand"), std::string::npos) << texts[0];
  EXPECT_EQ(texts[1], "served");
}

INSTANTIATE_TEST_SUITE_P(, WorkersAnywhere, testing::Values(Seat::beside, Seat::remote),
                         [](const auto& seat) { return name_of(seat.param); });

class RemoteWorkers : public Workers {
 protected:
  RemoteWorkers() : Workers(Seat::remote) {}
  void SetUp() override {
    if (!has_network()) GTEST_SKIP() << "no link: built without UCX";
  }

  /// What two ranks say to whose worker that happens.
  std::vector<std::string> after(int signal) {
    start(1, 2);
    ForkedRanks ranks;
    ranks.start_all(2, [this](int rank) { return exchange(rank, 5, 1'000'000); });
    Board::wait_for(board_->under_way, all_ranks());
    kill(remote_halves_[0], signal);
    return ranks.wait();
  }
};

TEST_F(RemoteWorkers, AKilledOneIsNoticed) {
  for (const std::string& text : after(SIGKILL))
    EXPECT_EQ(text.substr(0, 8), "status " + std::to_string(static_cast<int>(Status::peer_dead))) << text;
}

TEST_F(RemoteWorkers, AStoppedOneIsNoticed) {
  for (const std::string& text : after(SIGSTOP))
    EXPECT_EQ(text.substr(0, 8), "status " + std::to_string(static_cast<int>(Status::peer_dead))) << text;
}

TEST_F(RemoteWorkers, EndWhenTheHostsHalfIsKilled) {
  start(1, 1);
  ForkedRanks ranks;
  ranks.start(0, [this](int rank) { return exchange(rank, 5, 1'000'000); });
  Board::wait_for(board_->under_way, 1);
  kill(daemons_[0], SIGKILL);
  int status = -1;
  ASSERT_TRUE(ends(remote_halves_[0], &status));
  EXPECT_TRUE(WIFEXITED(status));
  remote_halves_.clear();
  ranks.wait();
}

/// The workers do not know each other yet, so that nothing is carried out, and more is told than there is
/// room for.
TEST_F(RemoteWorkers, EndWithARankWhoseWordsNobodyTakes) {
  start(1, 1);
  ForkedRanks ranks;
  ranks.start(0, [this](int rank) {
    Desks desks = Desks::attach(enter(entrance_number(0, getppid()), 20), test_version);
    Client client(std::move(desks), Client::Place{0, rank, 20, 20});
    board_->under_way.fetch_add(1);
    const Bytes command = encode(Open{1, {7, 9}, rank, {0}});
    while (client.tell(command)) continue;
    return std::string("told");
  });
  Board::wait_for(board_->under_way, 1);
  usleep(300'000);
  kill(ranks.pid(0), SIGKILL);
  ranks.wait();
  for (auto* const processes : {&daemons_, &remote_halves_}) {
    int status = -1;
    ASSERT_TRUE(ends(processes->front(), &status));
    processes->clear();
  }
}

TEST_F(RemoteWorkers, EndWithTheirRanks) {
  start(1, 2);
  EXPECT_EQ(ForkedRanks().start_all(2, [this](int rank) { return exchange(rank, 5, 3); }).wait(),
            std::vector<std::string>(2, "right"));
  for (auto* const processes : {&daemons_, &remote_halves_}) {
    int status = -1;
    ASSERT_TRUE(ends(processes->front(), &status));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    processes->clear();
  }
}

}  // namespace
}  // namespace hocket::worker
