// Instances of a lane that are under way at the same time: nothing of one is overwritten while another rank
// still reads it, in whatever order ranks come and go; and somebody can always go on. Ranks take turns in one
// thread, drawn from a printed seed.
#include "transports/shm/lane.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "harness/memory.hpp"
#include "harness/seed.hpp"
#include "transports/shm/lane_staging.hpp"

namespace hocket::transports::shm {
namespace {

using test::Memory;

enum class Kind : std::uint8_t { in_line, beside, staging };
struct Call {
  Kind kind;
  std::size_t bytes;  ///< of payload
};

constexpr std::uint32_t last_number = 0xffffffffU;

std::byte content(Rank rank, std::uint32_t call) {
  return static_cast<std::byte>(static_cast<std::uint32_t>(rank) * 37 + call * 11 + 1);
}

/// One rank: starts the calls in order, and goes on with any of those that it has started.
class Process {
 public:
  Process(std::byte* lines, std::byte* staging, Rank ranks, Rank rank, std::uint32_t behind,
          const std::vector<Call>& calls)
      : lane_(lines, ranks, rank, {WaitMode::yield, nullptr, nullptr, nullptr, nullptr}),
        staging_(staging),
        calls_(calls) {
    lane_.start_behind(behind);
  }

  bool is_over() const { return next_ == calls_.size() && running_.empty(); }
  std::size_t running() const { return running_.size(); }

  bool start() {
    if (next_ == calls_.size()) return false;
    const Call& call = calls_[next_];
    const std::uint32_t signature = 17 + static_cast<std::uint32_t>(call.bytes);
    running_.push_back({call.kind == Kind::staging
                            ? lane_.take_staging(signature)
                            : lane_.take(signature, call.kind == Kind::beside ? call.bytes : 0),
                        next_++, false});
    return true;
  }

  /// One step of one of them. False: it has to wait.
  bool advance(std::size_t which) {
    Running& r = running_[which];
    if (!r.begun) {
      if (!lane_.is_free(r.ticket)) return false;
      write(r);
      return r.begun = true;
    }
    for (Rank peer = 0; peer < lane_.channel().ranks(); ++peer) {
      const Status arrived = r.ticket.instance.arrived(peer);
      EXPECT_NE(arrived, Status::mismatch);
      if (arrived != Status::ok) return false;
    }
    for (Rank peer = 0; peer < lane_.channel().ranks(); ++peer) check(r, peer);
    lane_.leave(r.ticket.instance.number());
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
    return true;
  }

 private:
  struct Running {
    Lane::Ticket ticket;
    std::size_t call;
    bool begun;
  };

  std::size_t bytes_of(const Running& r) const {
    return calls_[r.call].kind == Kind::staging ? 1000 : calls_[r.call].bytes;
  }
  const std::byte* place(Running& r, Rank rank) {
    switch (calls_[r.call].kind) {
      case Kind::in_line:
        return r.ticket.instance.line_of(rank).payload.data();
      case Kind::beside:
        return r.ticket.instance.payload_of(rank);
      default:
        return staging_ + (static_cast<std::size_t>(rank) * Lane::staging_depth + r.ticket.staging_area) *
                              Lane::staging_area_bytes;
    }
  }
  void write(Running& r) {
    const Rank me = lane_.channel().rank();
    std::memset(const_cast<std::byte*>(place(r, me)),
                static_cast<int>(content(me, static_cast<std::uint32_t>(r.call))), bytes_of(r));
    r.ticket.instance.announce();
  }
  void check(Running& r, Rank peer) {
    const std::byte* found = place(r, peer);
    for (std::size_t i = 0; i < bytes_of(r); ++i)
      ASSERT_EQ(found[i], content(peer, static_cast<std::uint32_t>(r.call))) << "call " << r.call;
  }

  Lane lane_;
  std::byte* staging_;
  const std::vector<Call>& calls_;
  std::size_t next_ = 0;
  std::deque<Running> running_;
};

std::vector<Call> random_calls(std::mt19937_64& random, std::size_t n) {
  std::vector<Call> calls;
  while (calls.size() < n) {
    const auto kind = static_cast<Kind>(random() % 3);
    calls.push_back({kind, kind == Kind::in_line ? inline_bytes : 1 + random() % payload_bytes});
  }
  return calls;
}

/// `started_at_most`: by one rank at a time.
void run(Rank ranks, std::uint32_t behind, std::size_t started_at_most, std::size_t n) {
  SCOPED_TRACE("TEST_SEED=" + std::to_string(harness::test_seed()));
  std::mt19937_64 random(harness::test_seed());
  Memory lines(bytes_for(ranks)), staging(Lane::staging_bytes(ranks));
  const std::vector<Call> calls = random_calls(random, n);
  std::vector<std::unique_ptr<Process>> all;
  for (Rank r = 0; r < ranks; ++r)
    all.push_back(std::make_unique<Process>(lines.get(), staging.get(), ranks, r, behind, calls));
  const auto are_over = [&] {
    for (const auto& p : all)
      if (!p->is_over()) return false;
    return true;
  };
  for (int idle = 0; !are_over();) {
    Process& p = *all[random() % all.size()];
    bool has_done_something = false;
    if (p.running() < started_at_most && random() % 3 == 0) has_done_something = p.start();
    if (p.running() > 0) has_done_something |= p.advance(random() % p.running());
    idle = has_done_something ? 0 : idle + 1;
    ASSERT_LT(idle, 1'000'000) << "nobody can go on";
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Lane, KeepsWhatIsStillRead) {
  for (const Rank ranks : {1, 2, 3, 5})
    for (const std::size_t together : {1, 3, 20, 200}) run(ranks, 0, together, 1500);
}

TEST(Lane, OutlivesTheWrapOfItsNumbers) {
  for (const std::size_t together : {1, 20, 200}) run(3, last_number - 500, together, 1500);
}

TEST(Lane, StartsAsManyAsOneLikesBeforeTheOthersCome) {
  const std::vector<Call> calls(1000, {Kind::beside, payload_bytes});
  Memory lines(bytes_for(2)), staging(Lane::staging_bytes(2));
  Process early(lines.get(), staging.get(), 2, 0, 0, calls);
  Process late(lines.get(), staging.get(), 2, 1, 0, calls);
  while (early.start())
    for (std::size_t i = 0; i < early.running(); ++i) early.advance(i);
  EXPECT_EQ(early.running(), calls.size());
  while (!early.is_over() || !late.is_over()) {
    late.start();
    if (late.running()) late.advance(0);
    if (early.running()) early.advance(0);
  }
}

TEST(Lane, NoticesAnotherCallOfTheSameNumber) {
  Memory lines(bytes_for(2));
  const Waiting waiting{WaitMode::yield, nullptr, nullptr, nullptr, nullptr};
  Lane here(lines.get(), 2, 0, waiting), there(lines.get(), 2, 1, waiting);
  Lane::Ticket ours = here.take(1, 0), theirs = there.take(2, 0);
  EXPECT_EQ(ours.instance.arrived(1), Status::pending);
  theirs.instance.announce();
  EXPECT_EQ(ours.instance.arrived(1), Status::mismatch);
}

/// Their next call is the same again: that they differed before is still known.
TEST(Lane, NoticesLaterThatACallDiffered) {
  Memory lines(bytes_for(2));
  const Waiting waiting{WaitMode::yield, nullptr, nullptr, nullptr, nullptr};
  Lane here(lines.get(), 2, 0, waiting), there(lines.get(), 2, 1, waiting);
  here.take(1, 0);
  there.take(2, 0);
  Lane::Ticket ours = here.take(3, 0), theirs = there.take(3, 0);
  theirs.instance.announce();
  EXPECT_EQ(ours.instance.arrived(1), Status::mismatch);
}

}  // namespace
}  // namespace hocket::transports::shm
