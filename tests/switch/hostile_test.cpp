// Whoever connects to a switch, whatever he sends, and however slowly: the others do not notice.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "harness/seed.hpp"
#include "switch/stats_page.hpp"
#include "tree.hpp"

namespace hocket::harness {
namespace {

using wire::FrameHead;
using wire::FrameKind;

/// Two that sum while somebody else does what he likes.
class Honest {
 public:
  explicit Honest(const Tree& tree) : members_(tree, 2, false) {}
  void expect_to_go_on() {
    const Call call{.type = kernels::ElementType::u32, .op = kernels::OpKind::sum, .total = 4};
    members_.each([&](Member& member, std::size_t) {
      const std::uint32_t one = 1;
      const Bytes result = member.run(1, operation_, call, std::as_bytes(std::span(&one, 1)));
      EXPECT_EQ(result.front(), std::byte{2});
    });
    ++operation_;
  }

 private:
  Company members_;
  std::uint32_t operation_ = 0;
};

Descriptor connect(const Tree& tree) {
  return tcp::connect_to(tcp::place_in(tree.place_of(0)), Deadline(10));
}

void send(const Descriptor& to, std::span<const std::byte> bytes) {
  try {
    tcp::send_all(to, bytes, Deadline(10));
  } catch (const hocket::Error&) {
    return;  // seen off while sending
  }
}

bool is_seen_off(const Descriptor& connection, double seconds) {
  pollfd waited{connection.number(), POLLIN, 0};
  std::array<std::byte, 4096> answer;
  const Deadline end(seconds);
  while (!end.passed())
    if (poll(&waited, 1, 50) > 0 && recv(connection.number(), answer.data(), answer.size(), 0) <= 0)
      return true;
  return false;
}

class Hostile : public testing::Test {
 protected:
  Tree tree_{TreeShape{}};
  Honest honest_{tree_};
  std::mt19937_64 random_{test_seed()};

  std::size_t below(std::size_t end) { return random_() % end; }
  Bytes nonsense(std::size_t bytes) {
    Bytes data(bytes);
    for (std::byte& one : data) one = static_cast<std::byte>(random_());
    return data;
  }
};

TEST_F(Hostile, WhoSaysHalfAHelloIsSeenOff) {
  const wire::Greeting greeting = wire::greeting_of({});
  std::vector<Descriptor> idle;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{20}, sizeof greeting}) {
    idle.push_back(connect(tree_));
    send(idle.back(), std::as_bytes(std::span(&greeting, 1)).first(bytes));
  }
  honest_.expect_to_go_on();
  for (const Descriptor& one : idle)
    EXPECT_TRUE(is_seen_off(one, aggregation::Entrance::patience_seconds + 5));
}

TEST_F(Hostile, WhoIsNoMemberIsSeenOff) {
  for (int i = 0; i < 50; ++i) {
    const Descriptor visitor = connect(tree_);
    Bytes said = nonsense(1 + below(300));
    if (i % 2 == 0) std::memcpy(said.data(), &wire::magic, std::min(said.size(), sizeof wire::magic));
    said.resize(std::max(said.size(), sizeof(wire::Greeting) + sizeof(tcp::Proof)));
    send(visitor, said);
    EXPECT_TRUE(is_seen_off(visitor, 4)) << i;
  }
  honest_.expect_to_go_on();
}

TEST_F(Hostile, ACrowdBeforeTheDoorDoesNotCloseIt) {
  std::vector<Descriptor> crowd;
  for (std::size_t i = 0; i < 3 * aggregation::Entrance::most_applicants; ++i)
    crowd.push_back(connect(tree_));
  Member late(tree_.place_of(0), 1, 5);
  EXPECT_EQ(late.join(5, 1, 0), wire::Error::none);
  honest_.expect_to_go_on();
  EXPECT_TRUE(is_seen_off(crowd.front(), 4)) << "the first makes room";
}

/// A frame that might be right.
FrameHead plausible(std::mt19937_64& random) {
  constexpr std::array kinds{FrameKind::join, FrameKind::leave,  FrameKind::lock,   FrameKind::unlock,
                             FrameKind::data, FrameKind::failed, FrameKind::joined, FrameKind::locked};
  const auto below = [&](std::uint64_t end) { return random() % end; };
  FrameHead head{.kind = kinds[below(10) < 7 ? 4 : below(kinds.size())],
                 .flags = static_cast<std::uint8_t>(below(16)),
                 .type = static_cast<kernels::ElementType>(below(kernels::element_type_count + 1)),
                 .op = static_cast<kernels::OpKind>(below(kernels::op_kind_count + 1)),
                 .group = static_cast<std::uint32_t>(20 + below(3)),
                 .operation = static_cast<std::uint32_t>(below(4))};
  if (head.kind == FrameKind::join) head.bytes = sizeof(wire::Join);
  if (head.kind == FrameKind::failed) head.bytes = sizeof(wire::Failure);
  if (head.kind != FrameKind::data) return head;
  const bool is_streaming = (head.flags & wire::streaming) != 0, is_hollow = (head.flags & wire::hollow) != 0;
  head.total = 32 * below(is_streaming ? 100 : 8);
  head.bytes = is_hollow ? 0 : static_cast<std::uint32_t>(is_streaming ? 32 * below(30) : head.total);
  head.offset = is_hollow ? head.total : (is_streaming ? 32 * below(3) : 0);
  return head;
}

/// Members with the key that send frames which are nearly right, in groups with others of their kind.
TEST_F(Hostile, MembersThatLieHarmNobodyElse) {
  for (int round = 0; round < 150; ++round) {
    try {
      Member liar(tree_.place_of(0), 66, 0), other(tree_.place_of(0), 66, 1);
      liar.begin_join(20, 2, 0);
      other.begin_join(20, 2, 1);
      if (round % 2 == 0)
        liar.send({.kind = FrameKind::lock, .group = 20}), other.send({.kind = FrameKind::lock, .group = 20});
      liar.verdict(20);
      for (std::size_t frames = 1 + below(20); frames > 0; --frames) {
        const FrameHead head = plausible(random_);
        Bytes payload = nonsense(head.bytes);
        if (head.kind == FrameKind::join) {
          const wire::Join join{66,
                                head.group,
                                static_cast<std::uint32_t>(1 + below(3)),
                                1,
                                static_cast<std::uint32_t>(below(3)),
                                wire::Error::none,
                                0};
          std::memcpy(payload.data(), &join, sizeof join);
        }
        (below(3) == 0 ? other : liar).send(head, payload);
      }
      liar.hear(0.001);
    } catch (const hocket::Error&) {
      continue;  // cut off, as it should be
    }
  }
  honest_.expect_to_go_on();
}

/// As a switch, which may name any job and any ranks.
TEST_F(Hostile, SwitchesThatLieHarmNobodyElse) {
  for (int round = 0; round < 150; ++round) {
    try {
      auto [connection, welcome] =
          wire::enter(tcp::place_in(tree_.place_of(0)), wire::no_key(), {.is_switch = 1}, Deadline(10));
      for (std::size_t frames = 1 + below(20); frames > 0; --frames) {
        FrameHead head = plausible(random_);
        if (below(3) > 0) head = {.bytes = sizeof(wire::Join), .kind = FrameKind::join, .group = head.group};
        Bytes payload = nonsense(head.bytes);
        if (head.kind == FrameKind::join) {
          const auto size = static_cast<std::uint32_t>(1 + below(4));
          const wire::Join join{66 + below(3),
                                static_cast<std::uint32_t>(below(3)),
                                size,
                                static_cast<std::uint32_t>(1 + below(size)),
                                static_cast<std::uint32_t>(below(size)),
                                below(8) == 0 ? wire::Error::quota : wire::Error::none,
                                0};
          std::memcpy(payload.data(), &join, sizeof join);
        }
        tcp::send_all(connection, std::as_bytes(std::span(&head, 1)), Deadline(10));
        tcp::send_all(connection, payload, Deadline(10));
      }
    } catch (const hocket::Error&) {
      continue;
    }
  }
  honest_.expect_to_go_on();
}

TEST_F(Hostile, BytesWithoutSenseHarmNobodyElse) {
  for (int round = 0; round < 100; ++round) {
    try {
      Member member(tree_.place_of(0), 66, 0);
      member.begin_join(20, 1, 0);
      member.verdict(20);
      FrameHead head = plausible(random_);
      Bytes bytes = nonsense(sizeof head + 64);
      std::memcpy(bytes.data(), &head, sizeof head);
      for (std::size_t changes = below(5); changes > 0; --changes)
        bytes[below(sizeof head)] = static_cast<std::byte>(random_());
      member.send_raw(bytes);
      member.hear(0.001);
    } catch (const hocket::Error&) {
      continue;
    }
  }
  honest_.expect_to_go_on();
}

/// It asks for answers and does not take them: what waits for it is bounded.
TEST_F(Hostile, WhoTakesNothingIsNotHeard) {
  Member deaf(tree_.place_of(0), 66, 0), other(tree_.place_of(0), 66, 1);
  ASSERT_EQ(other.join(30, 1, 0), wire::Error::none);
  const wire::Join join{66, 30, 1, 1, 0, wire::Error::none, 0};
  try {
    for (int i = 0; i < 2'000'000; ++i) {
      const FrameHead head{.bytes = sizeof join, .kind = FrameKind::join, .group = 30};
      const auto as = std::as_bytes(std::span(&head, 1));
      Bytes frame(as.begin(), as.end());
      const auto payload = std::as_bytes(std::span(&join, 1));
      frame.insert(frame.end(), payload.begin(), payload.end());
      tcp::send_all(deaf.connection(), frame, Deadline(0.3));
    }
    ADD_FAILURE() << "all of it was taken";
  } catch (const hocket::Error& error) {
    EXPECT_STREQ(error.what(), "the other side says nothing");
  }
  honest_.expect_to_go_on();
}

TEST(StatsPage, AnswersWhatItKnows) {
  aggregation::Statistics statistics;
  statistics.groups = 3;
  statistics.below.in = 5'000'000'000;
  statistics.refusals[wire::Error::quota] = 2;
  const auto answer = [&](const std::string& line) {
    return answer_to(line + "\r\nHost: x\r\n\r\n", statistics);
  };
  const auto says = [](const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  };
  const std::string metrics = answer("GET /metrics HTTP/1.1"), json = answer("GET /stats.json HTTP/1.0");
  EXPECT_TRUE(says(metrics, "HTTP/1.1 200")) << metrics;
  EXPECT_TRUE(says(metrics, "\nhocket_switch_groups 3\n")) << metrics;
  EXPECT_TRUE(says(metrics, "\nhocket_switch_bytes_from_children_total 5000000000\n")) << metrics;
  EXPECT_TRUE(says(metrics, "_refusals_total{reason=\"")) << metrics;
  EXPECT_TRUE(says(json, "\"groups\":3")) << json;
  EXPECT_TRUE(says(answer("GET / HTTP/1.1"), "404"));
  for (const char* const line : {"POST /metrics HTTP/1.1", "GET /metrics", "", "x"})
    EXPECT_TRUE(says(answer(line), " 400 ")) << line;
  EXPECT_TRUE(says(answer_to(std::string(aggregation::longest_request, 'x'), statistics), " 400 "));
}

}  // namespace
}  // namespace hocket::harness
