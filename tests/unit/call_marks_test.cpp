// Who called what, by the marks of a communicator's blocking calls and of its non-blocking ones.
#include "engine/call_marks.hpp"

#include <gtest/gtest.h>

#include "harness/flag_lines.hpp"

namespace hocket::engine {
namespace {

using transports::shm::Channel;

constexpr CallMark started{.called = {Function::allreduce, Form::nonblocking}};
constexpr CallMark barrier{.called = {Function::barrier, Form::blocking}};

/// Two ranks whose non-blocking calls are numbered from `first` on.
class TwoRanks {
 public:
  explicit TwoRanks(std::uint32_t first)
      : blocking_memory_(harness::flag_lines(2)),
        nonblocking_memory_(harness::flag_lines(2)),
        number_(first) {
    seen_by_rank_0_.watch(own_.blocking);
    seen_by_rank_0_.watch_beside(own_.nonblocking);
  }

  void both_start() {
    ++number_;
    leave_mark(own_.nonblocking, number_, started);
    leave_mark(peer_.nonblocking, number_, started);
  }
  void call(bool own) {
    Channel& channel = own ? own_.blocking : peer_.blocking;
    channel.number(1);
    leave_mark(channel, channel.instance(), barrier);
  }
  bool differ() const { return seen_by_rank_0_.differ(1); }

 private:
  struct Channels {
    Channel blocking, nonblocking;
  };
  Channels channels_of(Rank rank) {
    return {{blocking_memory_.get(), 2, rank, {}}, {nonblocking_memory_.get(), 2, rank, {}}};
  }

  harness::FlagLines blocking_memory_, nonblocking_memory_;
  std::uint32_t number_;
  Channels own_ = channels_of(0), peer_ = channels_of(1);
  MarkedCalls seen_by_rank_0_;
};

TEST(MarkedCalls, SeeNoDifferenceWherePeersAreLate) {
  for (const std::uint32_t middle : {1'000U, 0x8000'0000U, 0U}) {
    TwoRanks ranks(middle - 200);
    for (int i = 0; i < 400; ++i) {
      ranks.both_start();
      ranks.call(true);
      if (i > 130) {
        EXPECT_FALSE(ranks.differ()) << middle - 200 + static_cast<std::uint32_t>(i);
      }
      ranks.call(false);
    }
  }
}

}  // namespace
}  // namespace hocket::engine
