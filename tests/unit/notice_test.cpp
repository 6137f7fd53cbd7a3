#include "transports/shm/notice.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "harness/flag_lines.hpp"

namespace hocket::transports::shm {
namespace {

using harness::flag_lines;

TEST(Notice, is_due_four_calls_after_the_one_in_which_ranks_tell) {
  const auto memory = flag_lines(1);
  Channel channel(memory.get(), 1, 0, {});
  for (std::uint32_t given_before = 1; given_before < 200; ++given_before) {
    const std::uint32_t told_in = (given_before + 7) / 8 * 8;
    Notice notice;
    notice.give(channel);
    for (std::uint32_t call = given_before; call < given_before + 20; ++call)
      EXPECT_EQ(notice.is_due_before(call), call >= told_in + 4) << call;
    EXPECT_TRUE(notice.is_due_before(given_before + Notice::most_calls));
    EXPECT_FALSE(notice.is_due(channel));
    channel.skip();
  }
}

TEST(Notice, numbers_of_calls_may_wrap) {
  Notice notice;  // as if given before call 0
  EXPECT_FALSE(notice.is_due_before(static_cast<std::uint32_t>(-1)));
  EXPECT_TRUE(notice.is_due_before(4));
}

/// Ranks that never meet otherwise write plain memory, and read that of all when the notice is due: the right
/// values, and, under the thread sanitizer, no race.
TEST(Notice, tells_what_was_written_before_it_to_ranks_that_run_ahead) {
  constexpr Rank ranks = 3;
  constexpr int notes = 200;
  const auto memory = flag_lines(ranks);
  std::vector<int> written(ranks * notes);
  std::vector<int> wrong(ranks);
  const auto run = [&](Rank rank) {
    Channel channel(memory.get(), ranks, rank, {WaitMode::yield, nullptr, nullptr, nullptr, nullptr});
    for (int n = 0; n < notes; ++n) {
      written[static_cast<std::size_t>(rank) * notes + static_cast<std::size_t>(n)] = n + 1;
      Notice notice;
      notice.give(channel);
      while (!notice.is_due(channel)) channel.skip();
      if (!notice.given_by_all(channel)) ++wrong[static_cast<std::size_t>(rank)];
      for (Rank r = 0; r < ranks; ++r)
        if (written[static_cast<std::size_t>(r) * notes + static_cast<std::size_t>(n)] != n + 1)
          ++wrong[static_cast<std::size_t>(rank)];
    }
    for (int call = 0; call < 8; ++call) channel.skip();  // tells that the last one is finished
  };
  std::vector<std::thread> threads;
  for (Rank r = 0; r < ranks; ++r) threads.emplace_back(run, r);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(ranks));
}

}  // namespace
}  // namespace hocket::transports::shm
