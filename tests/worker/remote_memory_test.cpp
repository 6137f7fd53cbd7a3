// Memory of ranks over a link, whose host's side is a thread of this process.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "every_row.hpp"
#include "worker/remote/memory_client.hpp"
#include "worker/remote/memory_server.hpp"

namespace hocket::worker::remote {
namespace {

constexpr std::uint32_t own_desk = 3;
constexpr int rank_count = 4;

struct LinkEnds {
  std::unique_ptr<Link> host, worker;

  LinkEnds() {
    auto ours = open_network("lo"), theirs = open_network("lo");
    const auto address_of = [](const Fabric& fabric) {
      return Link::Address(fabric.address().begin(), fabric.address().end());
    };
    const Link::Address host_address = address_of(*ours), worker_address = address_of(*theirs);
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) std::abort();
    host = std::make_unique<Link>(std::move(ours), Side::host, worker_address, LinkWord{'w'},
                                  Descriptor(sockets[0]));
    worker = std::make_unique<Link>(std::move(theirs), Side::worker, host_address, LinkWord{'w'},
                                    Descriptor(sockets[1]));
  }
};

/// Ends it, or leaves it to others' words.
class Host {
 public:
  Host(std::unique_ptr<Link> link, std::shared_ptr<RankProcess> process)
      : link_(std::move(link)), process_(std::move(process)), thread_([this] { serve(); }) {}
  /// Between its looks at the link.
  void set_nap(useconds_t us) { nap_us_ = us; }
  ~Host() {
    is_over_ = true;
    thread_.join();
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

 private:
  void serve() {
    MemoryServer memory(*link_);
    for (; !is_over_; usleep(nap_us_)) {
      for (const Frame* frame = link_->next(); frame; frame = link_->next()) {
        const auto process = frame->head.desk == own_desk ? process_ : nullptr;
        frame->head.kind == FrameKind::read ? memory.read(*frame, process) : memory.write(*frame, process);
      }
      memory.turn();
    }
    link_.reset();
  }

  std::unique_ptr<Link> link_;
  const std::shared_ptr<RankProcess> process_;
  std::atomic<bool> is_over_ = false;
  std::atomic<useconds_t> nap_us_ = 0;
  std::thread thread_;
};

class RemoteMemory : public testing::Test {
 protected:
  void SetUp() override {
    LinkEnds ends;
    link = std::move(ends.worker);
    auto process = std::make_shared<LocalProcess>(desks.desk(0), getpid());
    process->share(shared.range());
    host = std::make_unique<Host>(std::move(ends.host), process);
    client = std::make_unique<MemoryClient>(*link, [this] { ++beats; });
  }
  void TearDown() override {
    std::thread ending([this] { link.reset(); });  // both flush
    host.reset();
    ending.join();
  }

  int read(const void* address, std::vector<std::byte>& target) {
    return client->read(own_desk, reinterpret_cast<std::uintptr_t>(address), {target.data(), target.size()});
  }
  int write(void* address, std::vector<std::byte>& source) {
    return client->write(own_desk, reinterpret_cast<std::uintptr_t>(address), {source.data(), source.size()});
  }

  static constexpr std::size_t shared_bytes = std::size_t{4} << 20U;
  engine::handover::Desks desks = engine::handover::Desks::create(1, "test");
  const SharedMemory shared{shared_bytes};
  std::unique_ptr<Link> link;
  std::unique_ptr<Host> host;
  std::unique_ptr<MemoryClient> client;
  int beats = 0;
};

std::vector<std::byte> random_bytes(std::size_t count, std::mt19937_64& random) {
  std::vector<std::byte> all(count);
  for (std::byte& one : all) one = static_cast<std::byte>(random());
  return all;
}

const std::size_t lengths[] = {0,
                               1,
                               Frame::longest,
                               Frame::longest + 1,
                               piece_bytes - 1,
                               piece_bytes,
                               piece_bytes + 1,
                               9 * piece_bytes + 77};

TEST_F(RemoteMemory, IsRead) {
  std::mt19937_64 random(harness::test_seed());
  for (const std::size_t bytes : lengths) {
    const auto memory = random_bytes(bytes, random);
    std::vector<std::byte> copy(bytes);
    ASSERT_EQ(read(memory.data(), copy), 0) << bytes;
    EXPECT_EQ(copy, memory) << bytes;
  }
  EXPECT_GT(beats, 0);
}

/// What has come here may still be on its way there.
TEST_F(RemoteMemory, IsReadInManyPiecesFromASlowHost) {
  std::vector<std::byte> memory(100 * piece_bytes + 3, std::byte{5}), copy(memory.size());
  host->set_nap(3000);
  ASSERT_EQ(read(memory.data(), copy), 0);
  EXPECT_EQ(copy, memory);
}

TEST_F(RemoteMemory, IsWritten) {
  std::mt19937_64 random(harness::test_seed());
  for (const std::size_t bytes : lengths) {
    auto source = random_bytes(bytes, random);
    std::vector<std::byte> memory(bytes + 1, std::byte{42});
    ASSERT_EQ(write(memory.data(), source), 0) << bytes;
    EXPECT_EQ(memory.back(), std::byte{42}) << bytes;
    memory.pop_back();
    EXPECT_EQ(memory, source) << bytes;
  }
}

/// The host need not copy.
TEST_F(RemoteMemory, IsUsedWhereItIsMapped) {
  std::mt19937_64 random(harness::test_seed());
  for (const std::size_t bytes : {std::size_t{100}, 3 * piece_bytes}) {
    auto source = random_bytes(bytes, random);
    ASSERT_EQ(write(shared.data() + 5, source), 0);
    EXPECT_EQ(std::memcmp(shared.data() + 5, source.data(), bytes), 0);
    std::vector<std::byte> copy(bytes);
    ASSERT_EQ(read(shared.data() + 5, copy), 0);
    EXPECT_EQ(copy, source);
  }
}

/// The piece in the middle alone, and the others on their way.
TEST_F(RemoteMemory, ThatIsNoneIsAnError) {
  for (const std::size_t bytes : {std::size_t{8}, Frame::longest + 1, 9 * piece_bytes}) {
    std::vector<std::byte> some(bytes);
    EXPECT_EQ(read(reinterpret_cast<const void*>(64), some), EFAULT) << bytes;
    EXPECT_EQ(write(reinterpret_cast<void*>(64), some), EFAULT) << bytes;
  }
  constexpr std::size_t bytes = 6 * piece_bytes;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  mprotect(static_cast<char*>(memory) + 2 * piece_bytes, piece_bytes, PROT_NONE);
  std::vector<std::byte> some(bytes);
  EXPECT_EQ(read(memory, some), EFAULT);
  EXPECT_EQ(write(memory, some), EFAULT);
  munmap(memory, bytes);
  std::vector<std::byte> good(bytes, std::byte{1});
  EXPECT_EQ(read(good.data(), some), 0);
  EXPECT_EQ(some, good);
}

TEST_F(RemoteMemory, OfNobodyIsAnError) {
  for (const std::size_t bytes : {std::size_t{8}, 3 * piece_bytes}) {
    std::vector<std::byte> some(bytes), target(bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(target.data());
    EXPECT_EQ(client->read(own_desk + 1, address, {some.data(), bytes}), ESRCH);
    EXPECT_EQ(client->write(own_desk + 1, address, {some.data(), bytes}), ESRCH);
  }
}

TEST_F(RemoteMemory, BehindABrokenLinkIsAnError) {
  std::vector<std::byte> some(3 * piece_bytes);
  ASSERT_EQ(read(some.data(), some), 0);
  host.reset();
  EXPECT_EQ(read(some.data(), some), EPIPE);
  EXPECT_EQ(write(some.data(), some), EPIPE);
}

/// A rank whose memory is behind the link; its desk is here.
class ProcessBehindLink final : public RankProcess {
 public:
  ProcessBehindLink(engine::handover::Desk& desk, MemoryClient& memory)
      : at_desk_(desk, getpid()), memory_(memory) {}

  pid_t pid() const noexcept override { return at_desk_.pid(); }
  bool is_alive() const noexcept override { return true; }
  int read(std::uint64_t address, transports::Piece target) noexcept override {
    return memory_.read(own_desk, address, target);
  }
  int write(std::uint64_t address, transports::Piece source) noexcept override {
    return memory_.write(own_desk, address, source);
  }
  void share(const engine::SharedRange&) override {}
  Range range_of(std::uint64_t, std::size_t) const noexcept override { return nullptr; }
  void forget_ranges() noexcept override {}
  void count_mapped() noexcept override {}
  void say_why(std::string_view words) noexcept override { at_desk_.say_why(words); }
  void complete(std::uint32_t completion, Status status) noexcept override {
    at_desk_.complete(completion, status);
  }

 private:
  LocalProcess at_desk_;
  MemoryClient& memory_;
};

TEST_F(RemoteMemory, IsWhatEveryRowIsCarriedOutOn) {
  Node node(rank_count, [this](auto& desk) { return std::make_unique<ProcessBehindLink>(desk, *client); });
  expect_every_row_is_carried_out(node, std::pmr::get_default_resource());
}

/// A host believes nothing that would touch more than it has.
TEST(RemoteMemoryServer, RefusesWhatNoWorkerAsks) {
  LinkEnds ends;
  MemoryServer memory(*ends.host);
  Frame frame{};
  frame.head = {FrameKind::read, 0, 1, 0, 0, piece_bytes + 1};
  EXPECT_THROW(memory.read(frame, nullptr), Error);
  frame.head = {FrameKind::write, 0, 1, 4, 0, 5};
  EXPECT_THROW(memory.write(frame, nullptr), Error);
}

}  // namespace
}  // namespace hocket::worker::remote
