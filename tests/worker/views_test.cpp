// Mirrors of a rank's buffers, on this process's own.
#include <gtest/gtest.h>

#include <unistd.h>

#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "node.hpp"
#include "worker/call_views.hpp"

namespace hocket::worker {
namespace {

using engine::handover::Define;
using executors::Operation;
using ir::Collective;

OwnProcess not_shared;
const Beat no_beat = [] {};

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
  ASSERT_EQ(view.read(not_shared, mirror.data(), no_beat), 0);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(mirror.data()), 5), "klefg");
  EXPECT_EQ(view.offsets(), (std::vector<std::ptrdiff_t>{0, 2, 2}));
  std::vector<char> target(20, '.');
  const View other(target.data(), executors::Blocks{0, sizes.data(), offsets.data()}, 3);
  ASSERT_EQ(other.write(not_shared, mirror.data(), no_beat), 0);
  EXPECT_EQ(std::string(target.data(), 20), "....efg...kl........");
}

TEST(View, MovesAPartOfEveryBlock) {
  std::vector<char> buffer = letters(20), target(20, '.');
  const std::vector<std::ptrdiff_t> offsets = {10, 0, 5};
  const executors::Blocks blocks{4, nullptr, offsets.data()};
  const View view(buffer.data(), blocks, 3), other(target.data(), blocks, 3);
  std::vector<std::byte> mirror(12, std::byte{'-'});
  ASSERT_EQ(view.read(not_shared, mirror.data(), executors::Segment{1, 2}), 0);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(mirror.data()), 12), "-lm--bc--gh-");
  ASSERT_EQ(view.read(not_shared, mirror.data(), executors::Segment{3, 9}), 0);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(mirror.data()), 12), "-lmn-bcd-ghi");
  ASSERT_EQ(other.write(not_shared, mirror.data(), executors::Segment{3, 1}), 0);
  EXPECT_EQ(std::string(target.data(), 20), "...d....i....n......");
  ASSERT_EQ(other.write(not_shared, mirror.data(), executors::Segment{4, 1}), 0);
  EXPECT_EQ(std::string(target.data(), 20), "...d....i....n......");
  const View vector(buffer.data(), 20);
  std::vector<std::byte> whole(20, std::byte{'-'});
  ASSERT_EQ(vector.read(not_shared, whole.data(), executors::Segment{18, 5}), 0);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(whole.data()) + 17, 3), "-st");
}

TEST(View, SaysWhatIsNoMemory) {
  const View view(reinterpret_cast<const void*>(16), 8);
  std::byte mirror[8];
  EXPECT_EQ(view.read(not_shared, mirror, no_beat), EFAULT);
}

/// Who waits for it does not take it for a loop.
TEST(View, BeatsWhereMuchIsMoved) {
  constexpr std::size_t much = std::size_t{200} << 20U;
  std::vector<std::byte> buffer(much, std::byte{7}), mirror(much);
  int beats = 0;
  ASSERT_EQ(View(buffer.data(), much).read(not_shared, mirror.data(), [&] { ++beats; }), 0);
  EXPECT_EQ(beats, 3);
  EXPECT_EQ(mirror, buffer);
  mirror.back() = std::byte{8};
  ASSERT_EQ(View(buffer.data(), much).write(not_shared, mirror.data(), [&] { ++beats; }), 0);
  EXPECT_EQ(beats, 6);
  EXPECT_EQ(buffer.back(), std::byte{8});
}

/// As a rank shares it: this process maps it once more.
class MappedViews : public testing::Test {
 protected:
  static constexpr std::size_t bytes = 1 << 16;
  MappedViews() { memory->share(shared.range()); }

  char* at(std::size_t offset) const { return reinterpret_cast<char*>(shared.data()) + offset; }

  const SharedMemory shared{bytes};
  OwnProcess memory;
};

TEST_F(MappedViews, AreTheMemoryItself) {
  View view(at(100), 8);
  view.map(memory);
  ASSERT_TRUE(view.is_mapped());
  EXPECT_EQ(view.bytes(), 8U);
  EXPECT_EQ(view.mirror_bytes(), 0U);
  std::byte* const here = view.data(nullptr);
  EXPECT_NE(reinterpret_cast<char*>(here), at(100));
  here[7] = std::byte{42};
  EXPECT_EQ(*at(107), 42);
  EXPECT_EQ(view.read(not_shared, nullptr, no_beat), 0);
  EXPECT_EQ(view.write(not_shared, nullptr, no_beat), 0);
}

TEST_F(MappedViews, KeepTheRanksOffsets) {
  const std::vector<std::size_t> sizes = {2, 0, 3};
  const std::vector<std::ptrdiff_t> offsets = {10, 0, -4};
  View view(at(100), executors::Blocks{0, sizes.data(), offsets.data()}, 3);
  view.map(memory);
  ASSERT_TRUE(view.is_mapped());
  EXPECT_EQ(view.offsets(), offsets);
  const std::byte* const here = view.data(nullptr);
  EXPECT_TRUE(view.holds(here + 10, 2, {}));
  EXPECT_TRUE(view.holds(here - 3, 2, {}));
  EXPECT_FALSE(view.holds(here + 11, 2, {}));
  EXPECT_FALSE(view.holds(here - 5, 2, {}));
  EXPECT_FALSE(view.holds(here, 1, {}));
  EXPECT_FALSE(view.holds(here - 4, ~std::size_t{0}, {}));
}

TEST_F(MappedViews, AreWhollyInside) {
  const auto is_mapped = [&](View view) {
    view.map(memory);
    return view.is_mapped();
  };
  EXPECT_TRUE(is_mapped(View(at(0), bytes)));
  EXPECT_FALSE(is_mapped(View(at(1), bytes)));
  EXPECT_FALSE(is_mapped(View(at(0) - 1, 2)));
  EXPECT_FALSE(is_mapped(View(at(bytes), 1)));
  EXPECT_FALSE(is_mapped(View(&memory, 8)));
  EXPECT_FALSE(is_mapped(View(at(0), 0)));
  const std::vector<std::ptrdiff_t> one_outside = {0, 100, bytes - 1}, meet = {0, 1, 100};
  EXPECT_FALSE(is_mapped(View(at(0), executors::Blocks{2, nullptr, one_outside.data()}, 3)));
  EXPECT_FALSE(is_mapped(View(at(0), executors::Blocks{2, nullptr, meet.data()}, 3)));
}

TEST_F(MappedViews, GoOnWhenTheRankHasClosedItsFile) {
  View view(at(100), 8);
  {
    const SharedMemory other(bytes);
    OwnProcess short_lived;
    short_lived->share(other.range());
    view = View(other.data(), 8);
    view.map(short_lived);
  }
  ASSERT_TRUE(view.is_mapped());
  view.data(nullptr)[0] = std::byte{1};
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

/// A schedule that finds its input changed would go wrong.
TEST_F(MappedViews, OfAnInputThatIsCopiedThereAreNone) {
  Operation op;
  op.collective = Collective::alltoall;
  op.input = op.output = at(0);
  op.in_place = true;
  op.agreed_bytes = op.own_bytes = op.input_blocks.size = op.output_blocks.size = 4;
  const CallViews copied = views_of(defined(op, 3, true), 0, 3, memory);
  EXPECT_FALSE(copied.input.is_mapped());
  EXPECT_TRUE(copied.output.is_mapped());
  const CallViews one = views_of(defined(op, 3), 0, 3, memory);
  EXPECT_TRUE(one.is_one && one.output.is_mapped());
  op.in_place = false;  // which no program may do
  EXPECT_FALSE(views_of(defined(op, 3), 0, 3, memory).input.is_mapped());
  op.output = at(12);
  EXPECT_TRUE(views_of(defined(op, 3), 0, 3, memory).input.is_mapped());
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
