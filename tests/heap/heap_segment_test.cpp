// The memory that a worker maps: pieces of it, what becomes of those that were given back, and forks.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "harness/seed.hpp"
#include "heap/segment.hpp"

namespace hocket::heap {
namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;

/// Segments are never taken down: their process ends.
Segment& opened(std::size_t bytes) {
  static std::deque<Segment> all;
  Segment& segment = all.emplace_back();
  EXPECT_TRUE(segment.open(bytes));
  return segment;
}

void* take(Segment& segment, std::size_t bytes, std::size_t alignment = 64) {
  bool is_zero = false;
  return segment.take(bytes, alignment, is_zero);
}

std::size_t used_bytes(const Segment& segment) {
  struct stat status{};
  fstat(segment.shape().file.number(), &status);
  return static_cast<std::size_t>(status.st_blocks) * 512;
}

bool is_all(const void* piece, std::size_t bytes, int value) {
  const auto* const at = static_cast<const unsigned char*>(piece);
  return std::all_of(at, at + bytes, [value](unsigned char one) { return one == value; });
}

TEST(Segment, OpensNothingWhereThereIsNoRoom) {
  Segment segment;
  EXPECT_FALSE(segment.open(0));
  EXPECT_FALSE(segment.open(std::size_t{1} << 60U));
  EXPECT_EQ(take(segment, 100), nullptr);
  EXPECT_FALSE(segment.holds(&segment));
  EXPECT_FALSE(segment.shape().file.is_intact());
}

/// Growing beyond that limit would be a signal.
TEST(Segment, OpensNothingBeyondTheLimitOfFileSizes) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little{mib, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  Segment segment, small;
  EXPECT_FALSE(segment.open(2 * mib));
  EXPECT_TRUE(small.open(mib));
  setrlimit(RLIMIT_FSIZE, &before);
}

TEST(Segment, CannotBecomeShorter) {
  const Segment& segment = opened(mib);
  EXPECT_NE(ftruncate(segment.shape().file.number(), 0), 0);
  EXPECT_NE(fcntl(segment.shape().file.number(), F_GET_SEALS) & F_SEAL_SHRINK, 0);
}

TEST(Segment, SaysWhenItIsFull) {
  Segment& segment = opened(mib);
  void* const most = take(segment, mib - 4 * kib);
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(take(segment, 8 * kib), nullptr);
  EXPECT_EQ(take(segment, ~std::size_t{0}), nullptr);
  EXPECT_EQ(take(segment, 100, std::size_t{1} << 62U), nullptr);
  segment.give_back(most);
  EXPECT_NE(take(segment, mib - 4 * kib), nullptr);
}

TEST(Segment, AlignsPieces) {
  Segment& segment = opened(64 * mib);
  for (std::size_t alignment = 1; alignment <= 4 * mib; alignment *= 2) {
    void* const piece = take(segment, 100 * kib, alignment);
    ASSERT_NE(piece, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % std::max<std::size_t>(alignment, 64), 0U);
    EXPECT_GE(Segment::size_of(piece), 100 * kib);
    std::memset(piece, 1, 100 * kib);
    segment.give_back(piece);
  }
}

TEST(Segment, KnowsWhatIsZero) {
  Segment& segment = opened(256 * mib);
  bool is_zero = false;
  void* piece = segment.take(mib, 64, is_zero);
  EXPECT_TRUE(is_zero);
  std::memset(piece, 1, mib);
  segment.give_back(piece);
  void* const again = segment.take(mib, 64, is_zero);
  EXPECT_EQ(again, piece);
  EXPECT_FALSE(is_zero);
  piece = segment.take(128 * mib, 64, is_zero);
  EXPECT_TRUE(is_zero);
  std::memset(piece, 1, 128 * mib);
  segment.give_back(piece);  // more than is kept
  piece = segment.take(128 * mib, 64, is_zero);
  ASSERT_TRUE(is_zero);
  EXPECT_TRUE(is_all(piece, 128 * mib, 0));
}

TEST(Segment, GivesTheSystemWhatIsTooMuch) {
  Segment& segment = opened(512 * mib);
  std::vector<void*> pieces;
  for (int i = 0; i < 200; ++i) {
    pieces.push_back(take(segment, mib));
    std::memset(pieces.back(), 1, mib);
  }
  EXPECT_GE(used_bytes(segment), 200 * mib);
  for (void* const piece : pieces) segment.give_back(piece);
  EXPECT_LE(used_bytes(segment), Segment::kept_bytes + 2 * mib);
}

/// What others map is the same memory.
TEST(Segment, IsSeenByWhoeverMapsIt) {
  Segment& segment = opened(mib);
  const Segment::Shape shape = segment.shape();
  auto* const there =
      static_cast<std::byte*>(mmap(nullptr, shape.bytes, PROT_READ, MAP_SHARED, shape.file.number(), 0));
  ASSERT_NE(there, MAP_FAILED);
  auto* const piece = static_cast<std::byte*>(take(segment, 100));
  *piece = std::byte{42};
  EXPECT_EQ(there[piece - static_cast<std::byte*>(shape.base)], std::byte{42});
  munmap(there, shape.bytes);
}

struct Piece {
  unsigned char* data;
  std::size_t bytes;
  unsigned char value;
};

/// Takes and gives back at random: nobody else writes into a piece, and what is said to be zero is.
void use_at_random(Segment& segment, std::uint64_t seed, int rounds) {
  std::mt19937_64 random(seed);
  std::vector<Piece> pieces;
  const auto give_back = [&](std::size_t i) {
    ASSERT_TRUE(is_all(pieces[i].data, pieces[i].bytes, pieces[i].value));
    segment.give_back(pieces[i].data);
    pieces[i] = pieces.back();
    pieces.pop_back();
  };
  for (int round = 0; round < rounds; ++round) {
    if (!pieces.empty() && random() % 2 == 0) {
      give_back(random() % pieces.size());
      continue;
    }
    const std::size_t bytes = 1 + random() % (std::size_t{1} << (10 + random() % 11));
    const std::size_t alignment = std::size_t{1} << (random() % 15);
    bool is_zero = false;
    void* const piece = segment.take(bytes, alignment, is_zero);
    if (!piece) continue;
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(piece) % alignment, 0U);
    ASSERT_TRUE(!is_zero || is_all(piece, bytes, 0));
    pieces.push_back({static_cast<unsigned char*>(piece), bytes, static_cast<unsigned char>(random())});
    std::memset(piece, pieces.back().value, bytes);
  }
  while (!pieces.empty()) give_back(pieces.size() - 1);
}

TEST(Segment, KeepsPiecesApart) {
  const std::uint64_t seed = harness::test_seed();
  SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
  Segment& segment = opened(40 * mib);
  use_at_random(segment, seed, 20'000);
  EXPECT_NE(take(segment, 30 * mib), nullptr);  // what was given back is one again
}

TEST(Segment, KeepsPiecesOfThreadsApart) {
  const std::uint64_t seed = harness::test_seed();
  SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
  Segment& segment = opened(200 * mib);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) threads.emplace_back([&, i] { use_at_random(segment, seed + i, 3'000); });
  for (std::thread& thread : threads) thread.join();
}

/// What the child says, and its exit status.
template <class Body>
int in_a_child(Segment& segment, Body body) {
  segment.before_fork();
  const pid_t pid = fork();
  if (pid == 0) {
    segment.after_fork_in_child();
    _exit(body());
  }
  segment.after_fork_in_parent();
  int status = -1;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Segment, AForkIsLikeThatOfAllOtherMemory) {
  Segment& segment = opened(64 * mib);
  auto* const piece = static_cast<unsigned char*>(take(segment, mib));
  std::memset(piece, 1, mib);
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  segment.before_fork();
  const pid_t pid = fork();
  if (pid == 0) {
    segment.after_fork_in_child();
    char go = 0;
    bool right = read(told[0], &go, 1) == 1;  // until the parent has written
    right = right && is_all(piece, mib, 1);
    std::memset(piece, 3, mib);
    auto* const own = static_cast<unsigned char*>(take(segment, 2 * mib));
    std::memset(own, 4, 2 * mib);
    segment.give_back(piece);
    _exit(right && own && !segment.shape().file.is_intact() ? 0 : 1);
  }
  segment.after_fork_in_parent();
  std::memset(piece, 2, mib);
  ASSERT_EQ(write(told[1], "x", 1), 1);
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(is_all(piece, mib, 2));
  EXPECT_TRUE(segment.shape().file.is_intact());
  void* const other = take(segment, 2 * mib);
  EXPECT_TRUE(is_all(other, 2 * mib, 0));
}

/// As daemons do; what has come under the number since is not ours.
TEST(Segment, AForkGoesWellWhereTheProgramHasClosedItsFile) {
  Segment& segment = opened(8 * mib);
  auto* const piece = static_cast<unsigned char*>(take(segment, mib));
  std::memset(piece, 1, mib);
  const int number = segment.shape().file.number();
  close(number);
  const int other = memfd_create("other", 0);
  ASSERT_EQ(ftruncate(other, 32 * mib), 0);
  ASSERT_EQ(dup2(other, number), number);
  EXPECT_EQ(segment.shape().base, nullptr);  // nobody is told of it
  EXPECT_EQ(in_a_child(segment,
                       [&] {
                         const bool right = is_all(piece, mib, 1) && fcntl(number, F_GETFD) >= 0;
                         std::memset(piece, 2, mib);
                         return right ? 0 : 1;
                       }),
            0);
  EXPECT_TRUE(is_all(piece, mib, 1));
  EXPECT_EQ(lseek(number, 0, SEEK_CUR), 0);
  close(number);
  close(other);
}

/// It gives back what it frees, too.
TEST(Segment, AChildDoesNotGrowForEver) {
  Segment& segment = opened(512 * mib);
  void* const piece = take(segment, mib);
  EXPECT_EQ(in_a_child(segment,
                       [&] {
                         segment.give_back(piece);
                         for (int i = 0; i < 40; ++i) {
                           bool is_zero = false;
                           void* const much = segment.take(100 * mib, 64, is_zero);
                           if (!much || (is_zero && !is_all(much, 100 * mib, 0))) return 1;
                           std::memset(much, 1, i % 10 == 0 ? 100 * mib : mib);
                           segment.give_back(much);
                         }
                         return 0;
                       }),
            0);
}

TEST(Segment, AChildHasChildren) {
  Segment& segment = opened(8 * mib);
  auto* const piece = static_cast<unsigned char*>(take(segment, mib));
  std::memset(piece, 1, mib);
  EXPECT_EQ(in_a_child(segment,
                       [&] {
                         std::memset(piece, 2, mib);
                         const int inner = in_a_child(segment, [&] {
                           const bool right = is_all(piece, mib, 2);
                           std::memset(piece, 3, mib);
                           return right ? 7 : 1;
                         });
                         return inner == 7 && is_all(piece, mib, 2) ? 8 : 1;
                       }),
            8);
  EXPECT_TRUE(is_all(piece, mib, 1));
}

/// Who forks has what it takes in the middle of it from elsewhere: the child's copy is made already.
TEST(Segment, GivesNothingOutInTheMiddleOfAFork) {
  Segment& segment = opened(8 * mib);
  void* const piece = take(segment, mib);
  segment.before_fork();
  EXPECT_EQ(take(segment, mib), nullptr);
  segment.give_back(piece);
  segment.after_fork_in_parent();
  EXPECT_NE(take(segment, mib), nullptr);
}

TEST(Segment, ThreadsThatTakeDoNotKeepAnotherFromForking) {
  Segment& segment = opened(64 * mib);
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) {
      void* const piece = take(segment, 100 * kib);
      std::memset(piece, 9, 100 * kib);
      segment.give_back(piece);
    }
  });
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(in_a_child(segment,
                         [&] {
                           void* const piece = take(segment, mib);
                           std::memset(piece, 1, mib);
                           segment.give_back(piece);
                           return piece ? 0 : 1;
                         }),
              0);
  is_over = true;
  other.join();
}

}  // namespace
}  // namespace hocket::heap
