// Reads of other processes' memory, the test that says whether they work, and the bound of the calibration.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <functional>
#include <numeric>
#include <vector>

#include "harness/forbid_call.hpp"
#include "harness/rights.hpp"
#include "transports/cma/calibration.hpp"
#include "transports/cma/card.hpp"
#include "transports/cma/exposed_memory.hpp"
#include "transports/cma/process_memory.hpp"
#include "transports/shm/cells.hpp"
#include "transports/shm/staging.hpp"

namespace hocket::transports::cma {
namespace {

/// Zeroed memory that forked processes share.
class Shared {
 public:
  explicit Shared(std::size_t bytes) : bytes_(bytes) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) std::abort();
  }
  ~Shared() { munmap(memory_, bytes_); }
  std::byte* get() const { return static_cast<std::byte*>(memory_); }
  CardMemory card(std::size_t index) const { return CardMemory(get() + index * 64, 64); }

 private:
  std::size_t bytes_;
  void* memory_;
};

/// Child processes; each ends with what its body returns, or when the owner goes.
class Children {
 public:
  pid_t start(const std::function<int()>& body) {
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(60);
      _exit(body());
    }
    return pids_.emplace_back(pid);
  }
  std::vector<int> wait() {
    std::vector<int> results;
    for (const pid_t pid : pids_) {
      int status = 0;
      waitpid(pid, &status, 0);
      results.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status));
    }
    pids_.clear();
    return results;
  }

 private:
  std::vector<pid_t> pids_;
};

void await(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  while (word.load() < value) usleep(200);
}

int read_own(std::uint64_t address, void* to, std::size_t bytes) {
  return read_process_memory(getpid(), address, {static_cast<std::byte*>(to), bytes});
}

std::uint64_t address_of(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p);
}

TEST(ProcessMemory, ReadsASiblingsPrivateMemory) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  const Shared shared(4096);
  auto& address = *reinterpret_cast<std::atomic<std::uint64_t>*>(shared.get());
  auto& done = *reinterpret_cast<std::atomic<std::uint32_t>*>(shared.get() + 64);
  constexpr std::size_t count = 100'003;
  Children children;
  const pid_t owner = children.start([&] {
    std::vector<int> data(count);
    std::iota(data.begin(), data.end(), 7);
    harness::let_others_read();
    address = address_of(data.data());
    await(done, 1);
    return 0;
  });
  children.start([&] {
    while (address.load() == 0) usleep(200);
    std::vector<int> got(count);
    const int error =
        read_process_memory(owner, address, {reinterpret_cast<std::byte*>(got.data()), count * sizeof(int)});
    done = 1;
    if (error != 0) return error;
    for (std::size_t i = 0; i < count; ++i)
      if (got[i] != static_cast<int>(i) + 7) return 255;
    return 0;
  });
  EXPECT_EQ(children.wait(), (std::vector<int>{0, 0}));
}

TEST(ProcessMemory, ReadsNothingWithoutAsking) {
  EXPECT_EQ(read_process_memory(-1, 0, {nullptr, 0}), 0);
}

TEST(ProcessMemory, SaysWhyItFails) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  char to[16];
  EXPECT_EQ(read_own(8, to, sizeof to), EFAULT);
  Children children;
  const pid_t gone = children.start([] { return 0; });
  ASSERT_EQ(children.wait(), std::vector<int>{0});
  EXPECT_EQ(read_process_memory(gone, address_of(to), {reinterpret_cast<std::byte*>(to), sizeof to}), ESRCH);
}

TEST(ProcessMemory, NoticesThatTheEndIsMissing) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  constexpr std::size_t page = 4096;
  auto* two = static_cast<std::byte*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(two, MAP_FAILED);
  munmap(two + page, page);
  std::vector<std::byte> to(2 * page);
  EXPECT_EQ(read_own(address_of(two), to.data(), page), 0);
  EXPECT_EQ(read_own(address_of(two), to.data(), page + 1), EFAULT);
  munmap(two, page);
}

/// More than 2 GiB of addresses, all of them the same few pages.
class Repeated {
 public:
  Repeated(std::size_t window, std::size_t times) : bytes_(window * times) {
    const int file = memfd_create("repeated", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(window)) != 0) std::abort();
    data_ = static_cast<std::byte*>(
        mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    for (std::size_t i = 0; i < times; ++i)
      if (mmap(data_ + i * window, window, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
          MAP_FAILED)
        std::abort();
    close(file);
  }
  ~Repeated() { munmap(data_, bytes_); }
  std::byte* data() { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};

TEST(ProcessMemory, ReadsMoreThanTwoGigabytes) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  constexpr std::size_t window = std::size_t{16} << 20U;
  Repeated from(window, 136);
  Repeated to(window, 136);
  ASSERT_GT(from.bytes(), std::size_t{1} << 31U);
  std::memset(from.data(), 42, window);
  ASSERT_EQ(read_own(address_of(from.data()), to.data(), from.bytes()), 0);
  EXPECT_EQ(to.data()[to.bytes() - 1], std::byte{42});
}

TEST(Card, TellsThatASiblingCanBeRead) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  const Shared shared(4096);
  auto& done = *reinterpret_cast<std::atomic<std::uint32_t>*>(shared.get() + 2048);
  Children children;
  for (std::size_t me = 0; me < 2; ++me)
    children.start([&, me] {
      publish_card(shared.card(me));
      done.fetch_add(1);
      await(done, 2);
      const int error = test_card(shared.card(1 - me));
      done.fetch_add(1);
      await(done, 4);
      return error;
    });
  EXPECT_EQ(children.wait(), (std::vector<int>{0, 0}));
}

TEST(Card, TellsThatThereIsNone) {
  const Shared shared(4096);
  EXPECT_EQ(test_card(shared.card(0)), ENOMSG);
}

TEST(Card, DoesNotTakeAnotherProcessForTheOneMeant) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  const Shared shared(4096);
  publish_card(shared.card(0));
  shared.get()[offsetof(Card, cookie)] ^= std::byte{1};
  EXPECT_EQ(test_card(shared.card(0)), ENOMSG);
}

TEST(Card, TellsThatANumberIsOfAnotherPidNamespace) {
  const Shared shared(4096);
  publish_card(shared.card(0));
  shared.get()[offsetof(Card, pid_namespace)] ^= std::byte{1};
  EXPECT_EQ(test_card(shared.card(0)), EXDEV);
}

TEST(Card, TellsThatReadsAreForbidden) {
  if (!harness::works_in_a_child(harness::forbid_cma)) GTEST_SKIP() << "no seccomp filters here";
  const Shared shared(4096);
  publish_card(shared.card(0));
  Children children;
  children.start([&] { return harness::forbid_cma() ? test_card(shared.card(0)) : -1; });
  EXPECT_EQ(children.wait().front(), EPERM);
}

/// Root is allowed more than a plain process: give that up first.
TEST(Card, TellsThatAProcessIsNotDumpable) {
  const Shared shared(4096);
  auto& step = *reinterpret_cast<std::atomic<std::uint32_t>*>(shared.get() + 2048);
  if (!harness::works_in_a_child(harness::become_nobody))
    GTEST_SKIP() << "only root can become somebody without rights";
  Children children;
  children.start([&] {
    if (!harness::become_nobody()) return 1;
    prctl(PR_SET_DUMPABLE, 0);
    publish_card(shared.card(0));
    step = 1;
    await(step, 2);
    return 0;
  });
  children.start([&] {
    await(step, 1);
    const int error = harness::become_nobody() ? test_card(shared.card(0)) : -1;
    step = 2;
    return error;
  });
  const int result = children.wait().back();
  // Of a process that is not dumpable not even the namespaces can be told apart by others; it tells its own.
  EXPECT_TRUE(result == EPERM || result == EXDEV) << result;
}

TEST(Card, KeepsWhatACalibrationFound) {
  const Shared shared(4096);
  EXPECT_EQ(noted_gain(shared.card(0)), Gain::unknown);
  note_gain(shared.card(0), Gain::none);
  publish_card(shared.card(0));
  EXPECT_EQ(noted_gain(shared.card(0)), Gain::none);
}

/// Of this process: what else the machine does is not counted.
double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

TEST(Calibration, IsShort) {
  const double started = processor_seconds();
  const Calibration result = calibrate();
  EXPECT_LT(processor_seconds() - started, 0.2);
  for (std::size_t i = 0; i < calibrated_sizes.size(); ++i)
    std::printf("%zu bytes: kernel %.1f us, staged %.1f us\n", calibrated_sizes[i],
                static_cast<double>(result.kernel[i]) * 1e-3, static_cast<double>(result.staged[i]) * 1e-3);
}

TEST(Calibration, AsksForATenthOfGainAtEverySize) {
  EXPECT_EQ((Calibration{{100, 1000}, {111, 1101}}).gain(), Gain::over_two_copies);
  EXPECT_EQ((Calibration{{100, 1000}, {109, 9000}}).gain(), Gain::none);
  EXPECT_EQ((Calibration{{100, 1000}, {900, 1099}}).gain(), Gain::none);
}

TEST(Calibration, TellsWhetherEvenOneCopyIsSlower) {
  EXPECT_EQ((Calibration{{100, 1000}, {221, 2201}}).gain(), Gain::over_one_copy);
  EXPECT_EQ((Calibration{{100, 1000}, {221, 2199}}).gain(), Gain::over_two_copies);
}

TEST(Calibration, FindsNoGainWhereItIsForbidden) {
  if (!harness::works_in_a_child(harness::forbid_cma)) GTEST_SKIP() << "no seccomp filters here";
  Children children;
  children.start([] { return harness::forbid_cma() ? static_cast<int>(calibrate().gain()) : -1; });
  EXPECT_EQ(children.wait().front(), static_cast<int>(Gain::none));
}

/// Every rank reads every peer's private buffer, over and over, with changing data and addresses.
TEST(ExposedMemory, CarriesDataBetweenProcesses) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  constexpr Rank ranks = 3;
  constexpr std::size_t count = 20'000;
  const Shared lines(shm::bytes_for(ranks));
  const Shared cards(4096);
  auto& started = *reinterpret_cast<std::atomic<std::uint32_t>*>(cards.get() + 1024);
  Children children;
  for (Rank me = 0; me < ranks; ++me)
    children.start([&, me] {
      PeerMemory peers({cards.card(0), cards.card(1), cards.card(2)}, me);
      peers.admit();
      started.fetch_add(1);
      await(started, ranks);
      shm::Channel channel(lines.get(), ranks, me, {WaitMode::yield, nullptr, nullptr, nullptr, nullptr});
      shm::Staging below(channel);
      ExposedMemory via(below, peers);
      const auto all = [&](std::uint32_t step) {
        for (Rank r = 0; r < ranks; ++r)
          while (r != me && via.reached(r, step) == Status::pending) sched_yield();
      };
      for (int i = 0; i < 50; ++i) {
        if (below.begin(3) != Status::ok) return 1;
        std::vector<int> own(count + static_cast<std::size_t>(i), 100 * me + i);
        via.expose(i % 2 == 0, own.data());
        via.signal(1);
        all(1);
        for (Rank r = 0; r < ranks; ++r) {
          std::vector<int> got(count);
          const Piece target{reinterpret_cast<std::byte*>(got.data()), count * sizeof(int)};
          if (via.read_exposed(r, i % 2 == 0, static_cast<std::ptrdiff_t>(i * sizeof(int)), target) !=
              Status::ok)
            return 2;
          if (got != std::vector<int>(count, 100 * r + i)) return 3;
        }
        via.signal(2);
        all(2);
        below.finish();
      }
      return 0;
    });
  EXPECT_EQ(children.wait(), (std::vector<int>{0, 0, 0}));
}

TEST(ExposedMemory, NamesWhoCouldNotBeRead) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  const Shared lines(shm::bytes_for(2));
  shm::Channel channel(lines.get(), 2, 0, {WaitMode::yield, nullptr, nullptr, nullptr, nullptr});
  shm::Staging below(channel);
  const Shared cards(4096);
  PeerMemory peers({cards.card(0), cards.card(1)}, 0);
  publish_card(cards.card(1));  // this process is both ranks
  ExposedMemory via(below, peers);
  std::byte to{};
  EXPECT_EQ(via.read_exposed(1, false, 8, {&to, 1}),
            Status::failed);  // rank 1 has exposed nothing: address 8
  EXPECT_EQ(peers.failure().peer, 1);
  EXPECT_EQ(peers.failure().error, EFAULT);
}

/// Cells between processes, each with private buffers.
class LendingRanks {
 public:
  explicit LendingRanks(Rank ranks)
      : ranks_(ranks), lines_(shm::bytes_for(ranks)), cells_(shm::cells_bytes(ranks)), cards_(4096) {}

  /// One of them; to be made in its process.
  struct Member {
    shm::Channel channel;
    PeerMemory peers;
    shm::Cells cells;
    Member(const LendingRanks& all, Rank me, std::size_t least_loan)
        : channel(all.lines_.get(), all.ranks_, me, {WaitMode::yield, nullptr, nullptr, nullptr, nullptr}),
          peers(all.cards(), me),
          cells(all.cells_.get(), all.ranks_, me, channel.waiting(), &peers) {
      cells.lend_from(least_loan);
    }
  };

 private:
  std::vector<CardMemory> cards() const {
    std::vector<CardMemory> all;
    for (Rank r = 0; r < ranks_; ++r) all.push_back(cards_.card(static_cast<std::size_t>(r)));
    return all;
  }

  Rank ranks_;
  const Shared lines_, cells_, cards_;
};

/// A message of `count` numbers from `first` on, to each rank's right neighbour. 0, or what went wrong.
int pass_on(LendingRanks::Member& member, Rank ranks, Rank me, std::size_t count, int message) {
  const auto first_of = [&](Rank r) { return 100'000 * r + message; };
  std::vector<int> out(count), in(count), expected(count);
  std::iota(out.begin(), out.end(), first_of(me));
  std::iota(expected.begin(), expected.end(), first_of((me + ranks - 1) % ranks));
  const std::size_t bytes = count * sizeof(int);
  const Piece from[] = {{reinterpret_cast<std::byte*>(out.data()), bytes}};
  const Piece to[] = {{reinterpret_cast<std::byte*>(in.data()), bytes}};
  Transfer send{.peer = (me + 1) % ranks, .pieces = from, .total = bytes};
  Transfer recv{.peer = (me + ranks - 1) % ranks, .pieces = to, .total = bytes};
  Status sent = Status::pending, got = Status::pending;
  while (sent == Status::pending || got == Status::pending) {
    if (sent == Status::pending) sent = member.cells.advance_send(send);
    if (sent == Status::ok) std::fill(out.begin(), out.end(), -1);  // it is the sender's own again
    if (got == Status::pending) got = member.cells.advance_recv(recv);
    sched_yield();
  }
  if (sent != Status::ok || got != Status::ok) return 1;
  return in == expected ? 0 : 2;
}

/// `forbidden`: a rank that cannot read others' memory.
std::vector<int> pass_messages(Rank ranks, std::size_t least_loan, Rank forbidden = -1) {
  const LendingRanks all(ranks);
  Children children;
  for (Rank me = 0; me < ranks; ++me)
    children.start([&, me] {
      if (me == forbidden && !harness::forbid_cma()) return 77;
      LendingRanks::Member member(all, me, least_loan);
      for (int i = 0; i < 60; ++i) {
        const std::size_t count =
            i % 3 == 0 ? static_cast<std::size_t>(i) : 1000 * static_cast<std::size_t>(i);
        if (const int wrong = pass_on(member, ranks, me, count, i); wrong != 0) return wrong;
      }
      return 0;
    });
  return children.wait();
}

TEST(Loans, CarryDataBetweenProcesses) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  for (const std::size_t least : {std::size_t{1}, std::size_t{64} * 1024})
    EXPECT_EQ(pass_messages(3, least), (std::vector<int>{0, 0, 0})) << least;
}

TEST(Loans, AreCopiesWhereOneRankMayNotRead) {
  if (!harness::works_in_a_child(harness::forbid_cma)) GTEST_SKIP() << "no seccomp filters here";
  for (const std::size_t least : {std::size_t{1}, std::size_t{64} * 1024})
    EXPECT_EQ(pass_messages(3, least, 1), (std::vector<int>{0, 0, 0})) << least;
}

/// What happens after something has been lent, before it is read.
struct LastLoan {
  bool lender_stays = true;  ///< until it has been read, without doing anything
  std::function<bool()> reader_first = [] { return true; };
};

/// A lender and its peer, which know that loans can be read. What the two end with; the peer: the error of
/// its read.
std::vector<int> lend_and_read(const LastLoan& last) {
  const LendingRanks all(2);
  int is_lent[2], is_read[2];
  if (pipe(is_lent) != 0 || pipe(is_read) != 0) std::abort();
  constexpr std::size_t count = 50'000;
  std::vector<int> data(count, 7);  // forked: each process has its own
  const Piece pieces[] = {{reinterpret_cast<std::byte*>(data.data()), count * sizeof(int)}};
  Children children;
  const auto transfer_with = [&](Rank peer) {
    return Transfer{.peer = peer, .pieces = pieces, .total = count * sizeof(int)};
  };
  children.start([&] {
    close(is_lent[0]);
    close(is_read[1]);
    LendingRanks::Member member(all, 0, 1);
    Transfer first = transfer_with(1), second = transfer_with(1);
    while (member.cells.advance_send(first) == Status::pending) sched_yield();
    std::fill(data.begin(), data.end(), 8);
    char mark = '!';
    if (read(is_read[0], &mark, 1) != 1) return 1;  // the answer is there
    if (member.cells.advance_send(second) != Status::pending) return 2;
    if (write(is_lent[1], &mark, 1) != 1) return 3;
    if (last.lender_stays && read(is_read[0], &mark, 1) != 0) return 4;  // until the other end closes
    return 0;
  });
  children.start([&] {
    close(is_lent[1]);
    close(is_read[0]);
    LendingRanks::Member member(all, 1, 1);
    Transfer first = transfer_with(0), second = transfer_with(0);
    while (member.cells.advance_recv(first) == Status::pending) sched_yield();
    char mark = '!';
    if (write(is_read[1], &mark, 1) != 1 || read(is_lent[0], &mark, 1) != 1) return -1;
    // The lender's end closes after its memory has gone.
    if (!last.lender_stays && read(is_lent[0], &mark, 1) != 0) return -1;
    if (!last.reader_first()) return -1;
    const Status got = member.cells.advance_recv(second);
    if (got == Status::ok) return data == std::vector<int>(count, 8) ? 0 : -1;
    return got == Status::failed && member.peers.failure().peer == 0 ? member.peers.failure().error : -1;
  });
  for (const int end : {is_lent[0], is_lent[1], is_read[0], is_read[1]}) close(end);
  return children.wait();
}

/// It only has to be there.
TEST(Loans, AreReadWhileTheLenderDoesNothing) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  EXPECT_EQ(lend_and_read({}), (std::vector<int>{0, 0}));
}

TEST(Loans, EndWithAnErrorWhereTheLenderHasGone) {
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  EXPECT_EQ(lend_and_read({.lender_stays = false}), (std::vector<int>{0, ESRCH}));
}

TEST(Loans, EndWithAnErrorWhereReadsAreForbiddenOnTheWay) {
  if (!harness::works_in_a_child(harness::forbid_cma)) GTEST_SKIP() << "no seccomp filters here";
  if (const std::string why = harness::why_no_reads(); !why.empty()) GTEST_SKIP() << why;
  EXPECT_EQ(lend_and_read({.reader_first = harness::forbid_cma}), (std::vector<int>{0, EPERM}));
}

}  // namespace
}  // namespace hocket::transports::cma
