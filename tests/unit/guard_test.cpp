// The error of a communicator, which one rank writes for all.
#include "engine/guard.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "base/clock.hpp"

namespace hocket::engine {
namespace {

/// As long as a rank has no core, on a machine that has more to do than it can.
constexpr long long_ns = 100'000'000;

TEST(PostedFailure, IsReadWhole) {
  const auto header = std::make_unique<transports::shm::Header>();
  std::thread writer([&] {
    post_failure(*header, [] {
      sleep_ns(long_ns);
      return std::string("rank 1 has ended");
    });
  });
  while (header->failed.load() == 0) std::this_thread::yield();
  EXPECT_EQ(posted_failure(*header), "rank 1 has ended");
  writer.join();
}

TEST(PostedFailure, IsTheFirst) {
  const auto header = std::make_unique<transports::shm::Header>();
  post_failure(*header, [] { return std::string("first"); });
  post_failure(*header, [] { return std::string("second"); });
  EXPECT_EQ(posted_failure(*header), "first");
}

TEST(PostedFailure, IsSaidToLackItsTextWhereTheWriterHasEnded) {
  const auto header = std::make_unique<transports::shm::Header>();
  header->failed.store(1);
  EXPECT_NE(posted_failure(*header, 0.05).find("has not said why"), std::string::npos);
}

}  // namespace
}  // namespace hocket::engine
