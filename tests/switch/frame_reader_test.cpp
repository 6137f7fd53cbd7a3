// The parser of what comes over a connection: whole frames, parts of streaming ones, and everything that is
// none.
#include "switch/wire/frame_reader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "harness/seed.hpp"
#include "switch/wire/words.hpp"

namespace hocket::wire {
namespace {

using kernels::ElementType;
using kernels::OpKind;
using Bytes = std::vector<std::byte>;

constexpr std::uint32_t longest_small = 1024;

FrameHead streaming_head(std::uint32_t bytes, std::uint64_t offset, std::uint64_t total) {
  return {.bytes = bytes,
          .flags = contributes | wants | streaming,
          .type = ElementType::f64,
          .op = OpKind::sum,
          .group = 1,
          .offset = offset,
          .total = total};
}

FrameHead small_head(std::uint32_t bytes) {
  FrameHead head = streaming_head(bytes, 0, bytes);
  head.flags = contributes | wants;
  return head;
}

Bytes frame_of(const FrameHead& head) {
  Bytes frame(sizeof head + head.bytes);
  std::memcpy(frame.data(), &head, sizeof head);
  for (std::size_t i = sizeof head; i < frame.size(); ++i) frame[i] = static_cast<std::byte>(i);
  return frame;
}

void put(FrameReader& reader, std::span<const std::byte> data) {
  const std::span<std::byte> room = reader.room();
  ASSERT_LE(data.size(), room.size());
  std::ranges::copy(data, room.begin());
  reader.came(data.size());
}

std::string refusal(const FrameHead& head, Direction direction = Direction::up) {
  try {
    check(head, direction, longest_small);
    return "none";
  } catch (const Malformed& error) {
    return error.what();
  }
}

FrameHead with(FrameHead head, const std::function<void(FrameHead&)>& change) {
  change(head);
  return head;
}

TEST(FrameReader, GivesFramesOutWhole) {
  FrameReader reader(Direction::up, longest_small);
  Bytes two = frame_of(small_head(16));
  const Bytes leave_frame = frame_of({.kind = FrameKind::leave, .group = 3});
  two.insert(two.end(), leave_frame.begin(), leave_frame.end());
  put(reader, two);
  const auto first = reader.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->payload.size(), 16u);
  EXPECT_EQ(first->payload[0], std::byte{sizeof(FrameHead)});
  const auto second = reader.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->head.kind, FrameKind::leave);
  EXPECT_FALSE(reader.next());
}

TEST(FrameReader, WaitsForSmallOnes) {
  FrameReader reader(Direction::up, longest_small);
  const Bytes frame = frame_of(small_head(64));
  for (std::size_t i = 0; i + 1 < frame.size(); ++i) {
    put(reader, std::span(frame).subspan(i, 1));
    EXPECT_FALSE(reader.next()) << i;
  }
  put(reader, std::span(frame).last(1));
  ASSERT_TRUE(reader.next());
}

TEST(FrameReader, CutsStreamingOnesWhereElementsEnd) {
  FrameReader reader(Direction::up, longest_small);
  const Bytes frame = frame_of(streaming_head(64, 128, 256));
  put(reader, std::span(frame).first(sizeof(FrameHead) + 7));
  EXPECT_FALSE(reader.next()) << "no element yet";
  put(reader, std::span(frame).subspan(sizeof(FrameHead) + 7, 13));
  const auto first = reader.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->head.bytes, 16u);
  EXPECT_EQ(first->head.offset, 128u);
  EXPECT_FALSE(reader.next());
  put(reader, std::span(frame).subspan(sizeof(FrameHead) + 20));
  const auto second = reader.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->head.offset, 144u);
  EXPECT_EQ(second->payload.size(), 48u);
  EXPECT_EQ(second->payload[0], std::byte{sizeof(FrameHead) + 16});
}

TEST(FrameReader, KnowsWhatMayBeSaid) {
  const FrameHead small = small_head(16), stream = streaming_head(64, 64, 1024);
  EXPECT_EQ(refusal(small), "none");
  EXPECT_EQ(refusal(stream), "none");
  EXPECT_EQ(refusal(with(stream, [](FrameHead& head) { head.total = std::uint64_t{1} << 40U; })), "none");
  EXPECT_EQ(refusal({.flags = hollow, .group = 1}), "none") << "a barrier";
  EXPECT_EQ(refusal({.bytes = sizeof(Join), .kind = FrameKind::join, .group = 1}), "none");
  EXPECT_EQ(refusal({.bytes = sizeof(Failure), .kind = FrameKind::failed}), "none");
  EXPECT_EQ(refusal({.bytes = sizeof(Joined), .kind = FrameKind::joined, .group = 1}, Direction::down),
            "none");
  EXPECT_EQ(refusal({.flags = streaming | hollow, .group = 1, .offset = 8, .total = 16}, Direction::down),
            "none");
}

TEST(FrameReader, RefusesWhatNobodySays) {
  const FrameHead small = small_head(16), stream = streaming_head(64, 64, 1024);
  const std::vector<std::pair<const char*, FrameHead>> frames{
      {"kind", with(small, [](FrameHead& head) { head.kind = FrameKind{99}; })},
      {"direction", {.bytes = sizeof(Joined), .kind = FrameKind::joined, .group = 1}},
      {"no group", with(small, [](FrameHead& head) { head.group = 0; })},
      {"flags", with(small, [](FrameHead& head) { head.flags |= 0x80; })},
      {"hollow and contributes", with(small, [](FrameHead& head) { head.flags |= hollow; })},
      {"neither", with(small, [](FrameHead& head) { head.flags = wants; })},
      {"hollow with payload", with(small, [](FrameHead& head) { head.flags = hollow; })},
      {"type", with(small, [](FrameHead& head) { head.type = ElementType{200}; })},
      {"op", with(small, [](FrameHead& head) { head.op = OpKind{200}; })},
      {"half an element", with(small, [](FrameHead& head) { head.bytes = head.total = 12; })},
      {"half an offset", with(stream, [](FrameHead& head) { head.offset = 4; })},
      {"beyond the end", with(stream, [](FrameHead& head) { head.offset = 1024; })},
      {"overflow", with(stream, [](FrameHead& head) { head.offset = ~std::uint64_t{7}; })},
      {"part in small mode", with(small, [](FrameHead& head) { head.total = 32; })},
      {"long in small mode", small_head(longest_small + 8)},
      {"too long", streaming_head(longest_payload + 8, 0, 1U << 20U)},
      {"no payload", streaming_head(0, 0, 8)},
      {"hollow for nothing", {.flags = hollow | streaming, .group = 1, .total = 8}},
      {"length of join", {.bytes = 31, .kind = FrameKind::join, .group = 1}},
      {"length of leave", {.bytes = 1, .kind = FrameKind::leave, .group = 1}},
      {"length of lock", {.bytes = 3, .kind = FrameKind::lock, .group = 1}},
      {"length of failed", {.bytes = 0, .kind = FrameKind::failed, .group = 1}}};
  for (const auto& [what, head] : frames) EXPECT_NE(refusal(head), "none") << what;
  EXPECT_NE(refusal(small, Direction::down), "none") << "flags of members only";
}

/// However the bytes are cut, the same comes out.
TEST(FrameReader, DoesNotCareHowBytesCome) {
  std::mt19937_64 random(harness::test_seed());
  Bytes all;
  for (std::uint64_t offset = 0; offset < 200'000; offset += 50'000) {
    for (const FrameHead& head : {streaming_head(50'000, offset, 200'000), small_head(1024)}) {
      const Bytes frame = frame_of(head);
      all.insert(all.end(), frame.begin(), frame.end());
    }
  }
  FrameReader reader(Direction::up, longest_small);
  std::uint64_t streamed = 0, small = 0;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t bytes =
        std::min<std::size_t>({1 + random() % 9000, all.size() - at, reader.room().size()});
    put(reader, std::span(all).subspan(at, bytes));
    at += bytes;
    while (const auto piece = reader.next()) {
      const bool is_streaming = (piece->head.flags & streaming) != 0;
      EXPECT_EQ(piece->head.offset, is_streaming ? streamed : 0);
      ASSERT_FALSE(piece->payload.empty());
      (is_streaming ? streamed : small) += piece->payload.size();
    }
  }
  EXPECT_EQ(streamed, 200'000u);
  EXPECT_EQ(small, 4u * 1024);
}

/// What is given out lies in what has come, whatever that was.
TEST(FrameReader, SurvivesNonsense) {
  std::mt19937_64 random(harness::test_seed());
  for (int round = 0; round < 3000; ++round) {
    FrameReader reader(round % 2 == 0 ? Direction::up : Direction::down, longest_small);
    Bytes data = frame_of(random() % 2 == 0 ? small_head(64) : streaming_head(256, 256, 4096));
    for (std::size_t changes = random() % 4; changes > 0; --changes)
      data[random() % (random() % 2 == 0 ? sizeof(FrameHead) : data.size())] =
          static_cast<std::byte>(random());
    try {
      put(reader, data);
      while (const auto piece = reader.next()) {
        EXPECT_LE(piece->payload.size(), longest_payload);
        EXPECT_EQ(piece->payload.size(), piece->head.bytes);
      }
    } catch (const Malformed&) {
      continue;
    }
  }
}

TEST(FailureWords, AreCutAndHarmless) {
  EXPECT_EQ(words_in(failure_of(Error::general, "lost rank 3")), "lost rank 3");
  EXPECT_EQ(words_in(failure_of(Error::general, std::string(200, 'x'))).size(), 59u);
  EXPECT_EQ(words_in(failure_of(Error::general, "a\x1b[2Jb\n")), "a?[2Jb?");
  Failure unended;
  unended.words.fill('y');
  EXPECT_EQ(words_in(unended).size(), unended.words.size());
}

}  // namespace
}  // namespace hocket::wire
