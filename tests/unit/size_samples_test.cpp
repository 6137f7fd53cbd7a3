#include "engine/size_samples.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>

#include "harness/flag_lines.hpp"

namespace hocket::engine {
namespace {

class SizesOfRanks : public testing::Test {
 protected:
  SizesOfRanks() {
    for (Rank r = 0; r < lock_step_.ranks(); ++r) samples_.emplace_back(lock_step_[r]);
  }

  /// What all ranks agree on before a gatherv to which each of them contributes so much.
  std::size_t gatherv(std::array<std::size_t, 3> bytes) {
    std::array<std::size_t, 3> agreed{};
    for (Rank r = 0; r < 3; ++r) {
      const auto i = static_cast<std::size_t>(r);
      Call call;
      call.function = Function::gatherv;
      call.collective = ir::Collective::gather;
      call.own_bytes = bytes[i];
      agreed[i] = samples_[i].agreed_before(call);
    }
    lock_step_.call();
    EXPECT_EQ(agreed[0], agreed[1]);
    EXPECT_EQ(agreed[0], agreed[2]);
    return agreed[0];
  }

  harness::LockStep lock_step_{3};
  std::deque<SizeSamples> samples_;
};

TEST_F(SizesOfRanks, is_the_largest_ones_power_of_two_after_some_calls) {
  for (int call = 0; call < 11; ++call) EXPECT_EQ(gatherv({100, 5'000, 0}), 0u);
  EXPECT_EQ(gatherv({100, 5'000, 0}), 8192u);
}

TEST_F(SizesOfRanks, follows_another_size_within_27_calls) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1} << 20, std::size_t{64}, std::size_t{1} << 40})
    for (int call = 0; call < 100; ++call) {
      const std::size_t agreed = gatherv({0, 0, bytes});
      EXPECT_TRUE(call < 27 || agreed == std::max<std::size_t>(bytes, 1)) << call << ": " << agreed;
    }
}

TEST_F(SizesOfRanks, other_calls_between_do_not_matter) {
  for (int call = 0; call < 100; ++call) {
    const std::size_t agreed = gatherv({7, 8, 9});
    EXPECT_EQ(agreed, call < 2 ? 0 : 16) << call;
    for (int other = 0; other < 5; ++other) lock_step_.call();
  }
}

}  // namespace
}  // namespace hocket::engine
