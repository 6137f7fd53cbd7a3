// Workers as processes, and ranks that hand operations over to them, without any MPI.
#include "workers.hpp"

namespace hocket::worker {
namespace {

TEST_F(Workers, OfOneNodeCarryAnAlltoallOut) {
  start(1, 3);
  const auto texts = ForkedRanks().start_all(3, [this](int rank) { return exchange(rank, 5, 20); }).wait();
  EXPECT_EQ(texts, std::vector<std::string>(3, "right"));
}

TEST_F(Workers, OfTwoNodesCarryAnAlltoallOut) {
  if (!has_network()) GTEST_SKIP() << "no network between workers: built without UCX";
  start(2, 2);
  const auto texts = ForkedRanks().start_all(4, [this](int rank) { return exchange(rank, 5, 20); }).wait();
  EXPECT_EQ(texts, std::vector<std::string>(4, "right"));
}

TEST_F(Workers, LongMessages) {
  if (!has_network()) GTEST_SKIP() << "no network between workers: built without UCX";
  start(2, 1);
  const auto texts =
      ForkedRanks().start_all(2, [this](int rank) { return exchange(rank, 1'000'000, 3); }).wait();
  EXPECT_EQ(texts, std::vector<std::string>(2, "right"));
}

TEST_F(Workers, EndWithTheirRanks) {
  start(1, 1);
  EXPECT_EQ(ForkedRanks().start_all(1, [this](int rank) { return exchange(rank, 5, 1); }).wait()[0], "right");
  int status = -1;
  ASSERT_TRUE(ends(daemons_[0], &status));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  daemons_.clear();
}

TEST_F(Workers, AKilledRankIsAnErrorOfTheOthers) {
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

TEST_F(Workers, AKilledWorkerIsNoticed) {
  start(1, 2);
  ForkedRanks ranks;
  ranks.start_all(2, [this](int rank) { return exchange(rank, 5, 1'000'000); });
  Board::wait_for(board_->under_way, all_ranks());
  kill(daemons_[0], SIGKILL);
  for (const std::string& text : ranks.wait())
    EXPECT_EQ(text.substr(0, 8), "status " + std::to_string(static_cast<int>(Status::peer_dead))) << text;
}

TEST_F(Workers, AStoppedWorkerIsNoticed) {
  start(1, 1);
  ForkedRanks ranks;
  ranks.start(0, [this](int rank) { return exchange(rank, 5, 1'000'000); });
  Board::wait_for(board_->under_way, all_ranks());
  kill(daemons_[0], SIGSTOP);
  const std::string text = ranks.wait()[0];
  EXPECT_EQ(text.substr(0, 8), "status " + std::to_string(static_cast<int>(Status::peer_dead))) << text;
}

TEST_F(Workers, WhoSaysNonsenseIsGivenUpAlone) {
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

}  // namespace
}  // namespace hocket::worker
