// What trees of switches make of operations: the right bytes, in the order of the children, in both modes.
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>

#include "elements.hpp"
#include "harness/seed.hpp"
#include "tree.hpp"

namespace hocket::harness {
namespace {

constexpr std::size_t ranks = 5;

class Operations : public testing::TestWithParam<TreeShape> {
 protected:
  Operations() : tree_(GetParam(), limits()), members_(tree_, ranks) {}

  static aggregation::Limits limits() {
    aggregation::Limits limits;
    limits.window = std::uint64_t{64} << 10U;
    return limits;
  }
  std::vector<Bytes> random_data(ElementType type, std::size_t count) {
    std::vector<Bytes> data;
    for (std::size_t i = 0; i < ranks; ++i) data.push_back(elements_.of(type, count));
    return data;
  }
  Bytes expected(const Call& call, const std::vector<Bytes>& data) const {
    return in_tree_order(call.op, call.type, data, GetParam());
  }
  /// All contribute, and all want it.
  void allreduce(const Call& call) {
    const std::vector<Bytes> data = random_data(call.type, call.total / kernels::element_size(call.type));
    const std::vector<Bytes> results = members_.run(operation_++, [&](std::size_t) { return call; }, data);
    const Bytes wanted = expected(call, data);
    for (const Bytes& result : results)
      ASSERT_TRUE(are_same(call.op, call.type, result, wanted))
          << kernels::name(call.op) << " of " << kernels::name(call.type) << ", " << call.total << " bytes";
  }

  Elements elements_{test_seed()};
  Tree tree_;
  Company members_;
  std::uint32_t operation_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Trees, Operations, testing::Values(TreeShape{}, TreeShape{2}, TreeShape{4, 2}),
                         name_of);

TEST_P(Operations, KnowAllTypesAndOps) {
  for (std::size_t op = 0; op < kernels::op_kind_count; ++op)
    for (std::size_t type = 0; type < kernels::element_type_count; ++type) {
      const Call call{.type = static_cast<ElementType>(type), .op = static_cast<OpKind>(op)};
      if (!kernels::supported(call.op, call.type)) continue;
      Call small = call, streaming = call;
      small.total = 7 * kernels::element_size(call.type);
      streaming.total = 301 * kernels::element_size(call.type);
      streaming.is_streaming = true;
      allreduce(small);
      allreduce(streaming);
      if (HasFatalFailure()) return;
    }
}

TEST_P(Operations, AreOfAllSizes) {
  const std::uint64_t payload = limits().payload, window = limits().window;
  for (const std::uint64_t total : {std::uint64_t{0}, std::uint64_t{4}, payload - 4, payload})
    allreduce({.type = ElementType::f32, .op = OpKind::sum, .total = total});
  for (const std::uint64_t total :
       {std::uint64_t{0}, std::uint64_t{4}, payload + 4, std::uint64_t{65'532}, std::uint64_t{65'540},
        window - 4, window, window + 4, 3 * window + 16'388})
    for (const std::size_t frame : {std::size_t{65'536}, std::size_t{5000}})
      allreduce({.type = ElementType::f32,
                 .op = OpKind::sum,
                 .is_streaming = true,
                 .total = total,
                 .frame = frame});
}

TEST_P(Operations, CanBeBarriers) {
  for (int i = 0; i < 3; ++i)
    members_.run(
        operation_++, [](std::size_t) { return Call{.contributes = false, .wants = false}; },
        std::vector<Bytes>(ranks));
}

TEST_P(Operations, CanBeReductionsToARoot) {
  for (const bool is_streaming : {false, true})
    for (std::size_t root = 0; root < ranks; ++root) {
      const Call call{.type = ElementType::i32,
                      .op = OpKind::sum,
                      .is_streaming = is_streaming,
                      .total = is_streaming ? 150'000U : 400U};
      const std::vector<Bytes> data = random_data(call.type, call.total / 4);
      const auto results = members_.run(
          operation_++,
          [&](std::size_t i) {
            Call own = call;
            own.wants = i == root;
            return own;
          },
          data);
      EXPECT_EQ(results[root], expected(call, data));
    }
}

TEST_P(Operations, CanBeBroadcasts) {
  for (const bool is_streaming : {false, true})
    for (std::size_t root = 0; root < ranks; ++root) {
      const Call call{.is_streaming = is_streaming, .total = is_streaming ? 150'001U : 401U};
      const std::vector<Bytes> data = random_data(ElementType::u8, call.total);
      const auto results = members_.run(
          operation_++,
          [&](std::size_t i) {
            Call own = call;
            own.contributes = i == root;
            return own;
          },
          data);
      for (const Bytes& result : results) EXPECT_EQ(result, data[root]);
    }
}

/// Small ones beside each other, as many as a group may have.
TEST_P(Operations, MayBeOutstandingTogether) {
  const std::uint32_t count = limits().operations_per_group;
  const Call call{.type = ElementType::u32, .op = OpKind::sum, .total = 4};
  members_.each([&](Member& member, std::size_t i) {
    const std::uint32_t value = static_cast<std::uint32_t>(i);
    for (std::uint32_t k = 0; k < count; ++k)
      member.send_more(1, k, call, std::as_bytes(std::span(&value, 1)), 0, 0);
    for (std::uint32_t k = 0; k < count; ++k) {
      const Heard heard = member.expect(wire::FrameKind::data, 1);
      EXPECT_EQ(heard.head.operation, k);
      EXPECT_EQ(heard.value<std::uint32_t>(), ranks * (ranks - 1) / 2);
    }
  });
}

/// A sum whose bits show every change of the order.
TEST_P(Operations, HaveTheSameBitsWhoeverIsLate) {
  const Call call{.type = ElementType::f32, .op = OpKind::sum, .is_streaming = true, .total = 100'000};
  const std::vector<Bytes> data = random_data(call.type, call.total / 4);
  const Bytes first = expected(call, data);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::size_t> late(ranks), frames(ranks);
    for (std::size_t i = 0; i < ranks; ++i) {
      late[i] = elements_.below(4);
      frames[i] = 4 * (1 + elements_.below(8000));
    }
    const std::vector<Bytes> results = members_.run(
        operation_++,
        [&](std::size_t i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(late[i]));
          Call own = call;
          own.frame = frames[i];
          return own;
        },
        data);
    for (const Bytes& result : results) ASSERT_EQ(result, first) << "round " << round;
  }
}

/// Several streaming operations, each sent to its end before the next begins, while earlier results are on
/// their way.
TEST_P(Operations, StreamOneBehindTheOther) {
  const Call call{.type = ElementType::i64, .op = OpKind::max, .is_streaming = true, .total = 16'000};
  const std::vector<Bytes> data = random_data(call.type, call.total / 8);
  const Bytes wanted = expected(call, data);
  members_.each([&](Member& member, std::size_t i) {
    for (std::uint32_t k = 0; k < 3; ++k) member.send_more(1, k, call, data[i], 0, 0);
    for (std::uint32_t k = 0; k < 3; ++k) {
      Bytes result(call.total);
      for (std::uint64_t got = 0; got < call.total;) {
        const Heard heard = member.expect(wire::FrameKind::data, 1);
        ASSERT_EQ(heard.head.operation, k);
        std::ranges::copy(heard.payload, result.begin() + static_cast<long>(heard.head.offset));
        got = heard.head.offset + heard.head.bytes;
      }
      EXPECT_EQ(result, wanted);
    }
  });
}

/// The first bytes of a long operation come down while most of it has not gone up: nobody has its end.
TEST_P(Operations, ComeDownWhileTheyGoUp) {
  constexpr std::uint64_t total = std::uint64_t{1} << 40U;
  const Call call{
      .type = ElementType::u64, .op = OpKind::sum, .is_streaming = true, .total = total, .frame = 4096};
  const std::vector<std::uint64_t> ones(4096, 1);
  const std::span<const std::byte> data = std::as_bytes(std::span(ones));
  members_.each([&](Member& member, std::size_t) {
    member.send({.flags = wire::contributes | wire::wants | wire::streaming,
                 .type = call.type,
                 .op = call.op,
                 .group = 1,
                 .total = total},
                data.first(4096));
    for (std::uint64_t got = 0; got < 4096;) {
      const Heard heard = member.expect(wire::FrameKind::data, 1);
      EXPECT_EQ(heard.value<std::uint64_t>(), ranks);
      got = heard.head.offset + heard.head.bytes;
    }
  });
}

}  // namespace
}  // namespace hocket::harness
