// Who waits for a descriptor sleeps on it, and asks the MPI now and then.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "transports/waiting.hpp"

namespace {

using namespace hocket;
using namespace hocket::transports;

class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~Pipe() {
    for (const int end : ends_) close(end);
  }
  Blocker blocker() const { return {.descriptor = ends_[0], .events = POLLIN}; }
  void fill() const { EXPECT_EQ(write(ends_[1], "x", 1), 1); }
  void drain() const {
    char byte;
    EXPECT_EQ(read(ends_[0], &byte, 1), 1);
  }

 private:
  std::array<int, 2> ends_{};
};

struct Asked {
  Waiting waiting(WaitMode mode) {
    return {.mode = mode,
            .poke =
                [](void* self) noexcept {
                  ++static_cast<Asked*>(self)->times;
                  return static_cast<Asked*>(self)->has_more_to_do;
                },
            .poke_context = this};
  }
  int times = 0;
  bool has_more_to_do = false;
};

class Watching : public Watch {
 public:
  Status look(Rank, std::uint64_t waited_ns) noexcept override {
    waited = waited_ns;
    return Status::failed;
  }
  std::uint64_t waited = 0;
};

TEST(Waiting, ForADescriptorEndsWithWhatItTells) {
  const Pipe pipe;
  Asked asked;
  const Waiting waiting = asked.waiting(WaitMode::sleep);
  Patience patience(waiting, nobody);
  std::thread filling([&] {
    sleep_ns(5'000'000);
    pipe.fill();
  });
  int pauses = 0;
  pollfd told{pipe.blocker().descriptor, pipe.blocker().events, 0};
  for (; poll(&told, 1, 0) == 0; ++pauses) ASSERT_EQ(patience.pause(pipe.blocker()), Status::ok);
  filling.join();
  EXPECT_GE(asked.times, pauses - 1) << "the MPI is asked in each pause in which nothing comes";
  EXPECT_LE(asked.times, pauses);
  EXPECT_LT(pauses, 100) << "each pause is a long one";
}

/// What keeps coming may be all that a rank waits for in a long operation.
TEST(Waiting, ForADescriptorAsksTheMpiWhateverItTells) {
  const Pipe pipe;
  pipe.fill();
  Asked asked;
  const Waiting waiting = asked.waiting(WaitMode::sleep);
  Patience patience(waiting, nobody);
  for (int waits = 0; asked.times == 0; ++waits) {
    ASSERT_LT(waits, 100'000);
    patience.renew(nobody);
    ASSERT_EQ(patience.pause(pipe.blocker()), Status::ok);
    sleep_ns(10'000);
  }
}

TEST(Waiting, ForADescriptorIsWatched) {
  const Pipe pipe;
  Asked asked;
  Watching watch;
  Waiting waiting = asked.waiting(WaitMode::yield);
  waiting.watch = &watch;
  Patience patience(waiting, 3);
  while (patience.pause(pipe.blocker()) == Status::ok) ASSERT_LT(asked.times, 1000);
  EXPECT_GE(watch.waited, 1'000'000U);
}

class Counting : public Watch {
 public:
  Status look(Rank, std::uint64_t waited_ns) noexcept override {
    looks.push_back(waited_ns);
    return waited_ns > 600'000'000 ? Status::failed : Status::ok;
  }
  std::vector<std::uint64_t> looks;
};

TEST(Waiting, IsWatchedLessAndLessOften) {
  Asked asked;
  Counting watch;
  Waiting waiting = asked.waiting(WaitMode::sleep);
  waiting.watch = &watch;
  Patience patience(waiting, 3);
  while (patience.pause(Blocker{}) == Status::ok) {
  }
  std::uint64_t last = 0;
  for (const std::uint64_t waited : watch.looks) {
    EXPECT_GE(waited - std::exchange(last, waited),
              std::clamp<std::uint64_t>(waited / 8, 1'000'000, 50'000'000));
  }
}

/// How long each pause of a wait of 250 ms lasted, beside how long the wait had been.
struct Paused {
  std::uint64_t waited, lasted;
};

std::vector<Paused> pauses_of(const Waiting& waiting, const Blocker& blocker) {
  Patience patience(waiting, nobody);
  EXPECT_EQ(patience.pause(blocker), Status::ok);
  const std::uint64_t started = monotonic_ns();
  std::vector<Paused> all;
  for (std::uint64_t waited = 0; waited < 250'000'000;) {
    EXPECT_EQ(patience.pause(blocker), Status::ok);
    const std::uint64_t before = std::exchange(waited, monotonic_ns() - started);
    all.push_back({before, waited - before});
  }
  return all;
}

/// Each pause a sixteenth of the wait so far at least, up to `longest`.
void expect_longer_and_longer(const std::vector<Paused>& pauses, std::uint64_t longest) {
  for (const auto& [waited, lasted] : pauses)
    EXPECT_GE(lasted, waited < 1'000'000 ? 0 : std::min(waited / 16, longest)) << waited;
}

TEST(Waiting, ForNoWordRestsLongerAndLonger) {
  Asked asked;
  for (const WaitMode mode : {WaitMode::yield, WaitMode::sleep})
    expect_longer_and_longer(pauses_of(asked.waiting(mode), {}), 500'000);
}

TEST(Waiting, ForAWordRestsLongerAndLonger) {
  Asked asked;
  std::atomic<std::uint32_t> sleepers = 0;
  Waiting waiting = asked.waiting(WaitMode::sleep);
  waiting.sleepers = &sleepers;
  waiting.longest_sleep_ns = 10'000'000;
  const std::uint32_t word = 7;
  expect_longer_and_longer(pauses_of(waiting, {.word = &word, .seen = 7}), 10'000'000);
}

/// Other operations would wait for it; or it has its core to itself.
TEST(Waiting, ForNoWordIsShortWhereTheRankHasMoreToDo) {
  Asked asked{.has_more_to_do = true};
  Asked alone;
  for (const Waiting& waiting : {asked.waiting(WaitMode::yield), alone.waiting(WaitMode::spin)}) {
    std::uint64_t shortest = 500'000;
    for (const auto& [waited, lasted] : pauses_of(waiting, {}))
      if (waited > 10'000'000) shortest = std::min(shortest, lasted);
    EXPECT_LT(shortest, 500'000U);
  }
}

TEST(Waiting, ForNoDescriptorIsShort) {
  Asked asked;
  const Waiting waiting = asked.waiting(WaitMode::spin);
  Patience patience(waiting, nobody);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(patience.pause(Blocker{}), Status::ok);
  EXPECT_GT(asked.times, 0);
}

}  // namespace
