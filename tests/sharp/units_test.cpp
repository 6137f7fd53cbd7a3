// The parts of libsharp_coll.so that need no switch: layouts as a C++ compiler sees them, faults, terms, and
// the counting of locks.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>

#include "sharp/element_types.hpp"
#include "sharp/faults.hpp"
#include "sharp/layout.h"
#include "sharp/operations.hpp"
#include "sharp/refusal.hpp"
#include "sharp/settings.hpp"
#include "sharp/streaming_lock.hpp"
#include "sharp/terms.hpp"

namespace hocket::sharp {
namespace {

int code_of(const std::function<void()>& act) {
  try {
    act();
    return SHARP_COLL_SUCCESS;
  } catch (const Refusal& refusal) {
    return refusal.code();
  }
}

TEST(SharpFaults, AreOfAllRanksOrOfOne) {
  const Faults own = faults_in("quota,delay=7:3,disconnect=12:4", 3);
  EXPECT_TRUE(own.quota);
  EXPECT_FALSE(own.group);
  EXPECT_EQ(own.delay_ms, 7U);
  EXPECT_FALSE(own.disconnect_after);
  EXPECT_EQ(faults_in("disconnect=12:4", 4).disconnect_after, 12U);
}

TEST(SharpFaults, ThatAreNoneAreRefused) {
  for (const char* const text :
       {"qouta", "delay", "delay=", "delay=x", "lock=1", "quota:", "quota:x", "disconnect=1:2:3"})
    EXPECT_EQ(code_of([&] { faults_in(text, 0); }), SHARP_COLL_EINVAL) << text;
}

TEST(SharpSettings, ThatCannotBeReadAreRefused) {
  const std::array<std::array<const char*, 2>, 7> wrong = {{{"HOCKET_SWITCH", "nowhere"},
                                                            {"HOCKET_SWITCH_KEY", "/no/such/key"},
                                                            {"SHARP_COLL_ENABLE_SAT", "maybe"},
                                                            {"SHARP_COLL_SAT_THRESHOLD", "16K"},
                                                            {"SHARP_COLL_SAT_LOCK_BATCH_SIZE", "0"},
                                                            {"SHARP_COLL_JOB_QUOTA_PAYLOAD_PER_OST", "64"},
                                                            {"SHARP_COLL_OSTS_PER_GROUP", "-1"}}};
  for (const auto& [variable, value] : wrong) {
    setenv(variable, value, 1);
    EXPECT_EQ(code_of([] { Settings::from_environment(0); }), SHARP_COLL_EINVAL) << variable;
    unsetenv(variable);
  }
}

TEST(SharpSettings, HavePresets) {
  unsetenv("HOCKET_SWITCH");
  const Settings settings = Settings::from_environment(0);
  EXPECT_TRUE(settings.places.empty());
  EXPECT_FALSE(settings.streams);
  EXPECT_EQ(settings.streaming_from, 16384U);
  EXPECT_EQ(settings.lock_batch, 0U);
  setenv("HOCKET_SWITCH", "a:1,[::1]:2", 1);
  EXPECT_EQ(Settings::from_environment(0).places.size(), 2U);
  unsetenv("HOCKET_SWITCH");
}

TEST(SharpTerms, AreThoseThatAllRanksCanKeep) {
  Terms one, other;
  one.trees = other.trees = 1;
  one.payload = 1024;
  other.payload = 256;
  one.streams = 1;
  one.lock_batch = 0;
  other.lock_batch = 5;
  one.streaming_from = 10;
  other.streaming_from = 20;
  const std::array<Terms, 2> ranks = {one, other};
  const Terms agreed = Terms::of_all(ranks);
  EXPECT_EQ(agreed.error, SHARP_COLL_SUCCESS);
  EXPECT_EQ(agreed.payload, 256U);
  EXPECT_EQ(agreed.streams, 0U);
  EXPECT_EQ(agreed.lock_batch, 5U);
  EXPECT_EQ(agreed.streaming_from, 20U);
}

TEST(SharpTerms, OfRanksWithOtherTreesAreNone) {
  Terms one, other, failed;
  one.trees = 1;
  other.trees = 2;
  failed.error = SHARP_COLL_EJOB_CREATE;
  EXPECT_EQ(Terms::of_all(std::array<Terms, 2>{one, other}).error, SHARP_COLL_ETREE_INFO);
  EXPECT_EQ(Terms::of_all(std::array<Terms, 2>{one, failed}).error, SHARP_COLL_EJOB_CREATE);
}

TEST(SharpLock, IsGivenBackAfterTheLastOfItsBatch) {
  StreamingLock lock(2);
  EXPECT_FALSE(lock.begin_operation());
  lock.ask();
  lock.take(wire::Error::none);
  EXPECT_TRUE(lock.begin_operation());
  EXPECT_FALSE(lock.end_operation());
  EXPECT_TRUE(lock.begin_operation());
  EXPECT_FALSE(lock.begin_operation());
  EXPECT_TRUE(lock.end_operation());
  EXPECT_TRUE(lock.is_free());
}

TEST(SharpLock, IsKeptWithoutABatch) {
  StreamingLock lock(0);
  lock.ask();
  lock.take(wire::Error::none);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(lock.begin_operation());
    EXPECT_FALSE(lock.end_operation());
  }
}

TEST(SharpLock, SaysItsRefusalOnce) {
  StreamingLock lock(1);
  lock.ask();
  lock.take(wire::Error::lock_taken);
  EXPECT_EQ(lock.take_refusal(), wire::Error::lock_taken);
  EXPECT_FALSE(lock.take_refusal());
  EXPECT_TRUE(lock.is_free());
}

TEST(SharpTypes, AreTheKernels) {
  sharp_coll_reduce_spec spec{};
  for (int type = 0; type < SHARP_DTYPE_NULL; ++type) {
    spec.dtype = static_cast<sharp_datatype>(type);
    spec.op = SHARP_OP_PROD;
    EXPECT_TRUE(reduction_of(spec)) << type;
  }
  spec.op = SHARP_OP_MAXLOC;
  spec.tag_dtype = SHARP_DTYPE_INT;
  spec.dtype = SHARP_DTYPE_DOUBLE;
  EXPECT_EQ(reduction_of(spec)->element_size(), 16U);
  spec.dtype = SHARP_DTYPE_BFLOAT16;
  EXPECT_FALSE(reduction_of(spec));
}

/// What a switch would send for it.
wire::FrameHead answer_to(const wire::FrameHead& sent, std::uint64_t offset, std::uint32_t bytes,
                          unsigned flags) {
  wire::FrameHead head = sent;
  head.offset = offset;
  head.bytes = bytes;
  head.flags = static_cast<std::uint8_t>(flags);
  return head;
}

class SharpOperations : public testing::Test {
 protected:
  static constexpr std::uint64_t window = 64 << 10;
  SharpOperations() { request_.reduction = {kernels::ElementType::f64, kernels::OpKind::sum}; }

  Operations operations_{7, 2, window};
  Request request_;
  std::array<std::byte, 4 * window> source_{}, target_{};
};

TEST_F(SharpOperations, StreamNoMoreThanAWindowAhead) {
  operations_.start(request_, {source_.data(), target_.data(), source_.size()}, true);
  std::uint64_t sent = 0, got = 0;
  while (got < source_.size()) {
    while (const auto frame = operations_.next_frame()) {
      EXPECT_EQ(frame->head.offset, sent);
      EXPECT_EQ(frame->head.bytes % 8, 0U);
      sent += frame->head.bytes;
    }
    ASSERT_LE(sent - got, window);
    ASSERT_GT(sent, got);
    got = std::min(sent, got + 20'001);
    operations_.over(0, got);
  }
  EXPECT_EQ(request_.running, 0U);
}

TEST_F(SharpOperations, StreamOneAfterTheOther) {
  operations_.start(request_, {source_.data(), nullptr, 2 * window}, true);
  operations_.start(request_, {nullptr, target_.data(), window}, true);
  EXPECT_FALSE(operations_.has_room(true));
  EXPECT_TRUE(operations_.has_room(false));
  operations_.start(request_, {source_.data(), target_.data(), 64}, false);
  EXPECT_EQ(operations_.next_frame()->head.operation, 0U);
  EXPECT_EQ(operations_.next_frame()->head.operation, 2U) << "short ones pass by";
  EXPECT_FALSE(operations_.next_frame());
  operations_.over(0, window);
  EXPECT_EQ(operations_.next_frame()->head.operation, 0U);
  EXPECT_FALSE(operations_.next_frame());
  operations_.over(0, 2 * window);
  const auto hollow = operations_.next_frame();
  ASSERT_TRUE(hollow);
  EXPECT_EQ(hollow->head.operation, 1U);
  EXPECT_EQ(hollow->head.offset, window);
  EXPECT_EQ(hollow->head.bytes, 0U);
  EXPECT_EQ(hollow->head.flags, wire::hollow | wire::wants | wire::streaming);
}

TEST_F(SharpOperations, BelieveOnlyWhatMayComeDown) {
  operations_.start(request_, {source_.data(), target_.data(), 64}, false);
  const wire::FrameHead sent = operations_.next_frame()->head;
  EXPECT_TRUE(operations_.expects(answer_to(sent, 0, 64, 0)));
  EXPECT_FALSE(operations_.expects(answer_to(sent, 8, 56, 0))) << "a gap";
  EXPECT_FALSE(operations_.expects(answer_to(sent, 0, 72, 0))) << "too long";
  EXPECT_FALSE(operations_.expects(answer_to(sent, 0, 0, 0))) << "no payload";
  wire::FrameHead other = answer_to(sent, 0, 64, 0);
  other.operation = 1;
  EXPECT_FALSE(operations_.expects(other));
  other = answer_to(sent, 0, 64, 0);
  other.total = 128;
  EXPECT_FALSE(operations_.expects(other));
  operations_.over(0, 64);
  EXPECT_FALSE(operations_.expects(answer_to(sent, 0, 64, 0))) << "it is over";
}

TEST_F(SharpOperations, DoNotTakeAResultBeforeItsInput) {
  operations_.start(request_, {source_.data(), target_.data(), 4 * window}, true);
  wire::FrameHead sent;
  while (const auto frame = operations_.next_frame()) sent = frame->head;
  EXPECT_TRUE(operations_.expects(answer_to(sent, 0, 4096, wire::streaming)));
  operations_.over(0, window - 8);
  EXPECT_FALSE(operations_.expects(answer_to(sent, window - 8, 16, wire::streaming)));
  EXPECT_FALSE(operations_.expects(answer_to(sent, 4 * window, 0, wire::streaming | wire::hollow)));
}

}  // namespace
}  // namespace hocket::sharp
