// Mirrors of a rank's buffers, on this process's own.
#include <gtest/gtest.h>

#include <unistd.h>

#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "worker/call_views.hpp"

namespace hocket::worker {
namespace {

using engine::handover::Define;
using executors::Operation;
using ir::Collective;

const RankMemory not_shared(getpid());

std::vector<char> letters(std::size_t count) {
  std::vector<char> all(count);
  std::iota(all.begin(), all.end(), 'a');
  return all;
}

TEST(View, LeavesGapsOut) {
  std::vector<char> buffer = letters(20);
  const std::vector<std::size_t> sizes = {2, 0, 3};
  const std::vector<std::ptrdiff_t> offsets = {10, 0, 4};
  const View view(buffer.data(), executors::Blocks{0, sizes.data(), offsets.data()}, 3);
  ASSERT_EQ(view.bytes(), 5U);
  std::vector<std::byte> mirror(5);
  ASSERT_EQ(view.read(getpid(), mirror.data()), 0);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(mirror.data()), 5), "klefg");
  EXPECT_EQ(view.offsets(), (std::vector<std::ptrdiff_t>{0, 2, 2}));
  std::vector<char> target(20, '.');
  const View other(target.data(), executors::Blocks{0, sizes.data(), offsets.data()}, 3);
  ASSERT_EQ(other.write(getpid(), mirror.data()), 0);
  EXPECT_EQ(std::string(target.data(), 20), "....efg...kl........");
}

TEST(View, SaysWhatIsNoMemory) {
  const View view(reinterpret_cast<const void*>(16), 8);
  std::byte mirror[8];
  EXPECT_EQ(view.read(getpid(), mirror), EFAULT);
}

Define defined(const Operation& op, ir::Rank ranks, bool copies_input = false) {
  Define define;
  define.copies_input = copies_input;
  engine::handover::describe(op, ranks, define);
  return define;
}

TEST(CallViews, OfABroadcast) {
  std::vector<char> buffer(8);
  Operation op;
  op.collective = Collective::bcast;
  op.input = op.output = buffer.data();
  op.in_place = true;
  op.root = 1;
  op.agreed_bytes = op.own_bytes = 8;
  const CallViews root = views_of(defined(op, 3), 1, 3, not_shared);
  EXPECT_TRUE(root.is_one && root.reads_output && !root.writes_output);
  EXPECT_EQ(root.output.bytes(), 8U);
  const CallViews other = views_of(defined(op, 3), 0, 3, not_shared);
  EXPECT_TRUE(other.is_one && !other.reads_output && other.writes_output);
}

TEST(CallViews, InPlaceWithAndWithoutACopy) {
  std::vector<char> buffer(12);
  Operation op;
  op.collective = Collective::alltoall;
  op.input = op.output = buffer.data();
  op.in_place = true;
  op.agreed_bytes = op.own_bytes = op.input_blocks.size = op.output_blocks.size = 4;
  const Define one = defined(op, 3), two = defined(op, 3, true);
  EXPECT_TRUE(views_of(one, 0, 3, not_shared).is_one);
  const CallViews views = views_of(two, 0, 3, not_shared);
  EXPECT_FALSE(views.is_one);
  EXPECT_EQ(views.input.bytes(), 12U);
  EXPECT_EQ(views.output.bytes(), 12U);
  std::byte input[12], output[12];
  const Operation mirror = viewed(two, views, input, output);
  EXPECT_FALSE(mirror.in_place);
  EXPECT_EQ(mirror.input, input);
  EXPECT_EQ(mirror.output, output);
}

TEST(CallViews, OfAScatterInPlaceNothingIsWritten) {
  std::vector<char> buffer(12);
  Operation op;
  op.collective = Collective::scatter;
  op.input = buffer.data();
  op.output = buffer.data();
  op.in_place = true;
  op.agreed_bytes = op.own_bytes = op.input_blocks.size = 4;
  const Define define = defined(op, 3);
  const CallViews views = views_of(define, 0, 3, not_shared);
  EXPECT_EQ(views.input.bytes(), 12U);
  EXPECT_EQ(views.output.bytes(), 0U);
  std::byte input[12];
  EXPECT_TRUE(viewed(define, views, input, nullptr).in_place);
}

TEST(CallViews, RefuseTablesThatDoNotFit) {
  Define define;
  define.operation.collective = Collective::alltoall;
  define.input_table.sizes = {1, 2};
  EXPECT_THROW(views_of(define, 0, 3, not_shared), Error);
  define.input_table.sizes.clear();
  define.operation.root = 3;
  EXPECT_THROW(views_of(define, 0, 3, not_shared), Error);
}

}  // namespace
}  // namespace hocket::worker
