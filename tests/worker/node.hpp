// A worker's ranks in one process, without their worker: commands go into their desks' streams, and the test
// gives turns. docs/workers.md
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine/handover/commands.hpp"
#include "engine/handover/desks.hpp"
#include "harness/rights.hpp"
#include "worker/local_fabric.hpp"
#include "worker/local_process.hpp"
#include "worker/served.hpp"

namespace hocket::worker {

using engine::handover::Bytes;

/// A process that does nothing but have memory: what this one has mapped shared, and a copy of all else. So
/// whatever is written to it harms nobody.
class Bystander {
 public:
  Bystander() : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    harness::let_others_read();
    for (;;) pause();
  }
  ~Bystander() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;

  pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};

/// Memory that processes share which are forked later, and that a worker may map.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes)
      : bytes_(bytes), file_(memfd_create("shared", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    if (ftruncate(file_, static_cast<off_t>(bytes)) != 0 || fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
      std::abort();
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (data_ == MAP_FAILED) std::abort();
  }
  ~SharedMemory() {
    munmap(data_, bytes_);
    close(file_);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  engine::SharedRange range() const { return range_of(file_, data_, bytes_); }
  /// As an honest rank tells it.
  static engine::SharedRange range_of(int file, const void* data, std::size_t bytes) {
    struct stat status{};
    fstat(file, &status);
    return {reinterpret_cast<std::uintptr_t>(data), bytes, status.st_dev, status.st_ino, file};
  }

 private:
  std::size_t bytes_;
  int file_;
  void* data_ = nullptr;
};

/// Of this process, as if it were a rank.
class OwnProcess {
 public:
  operator RankProcess&() { return process_; }
  LocalProcess* operator->() { return &process_; }

 private:
  engine::handover::Desks desks_ = engine::handover::Desks::create(1, "test");
  LocalProcess process_{desks_.desk(0), getpid()};
};

class Node final : private Served::Office {
 public:
  static constexpr std::size_t much = std::size_t{1} << 30U;

  using ProcessOf = std::function<std::unique_ptr<RankProcess>(engine::handover::Desk&)>;

  /// All are in the process `process`; rank i shares the i-th of those ranges, if there are any.
  Node(ir::Rank ranks, pid_t process, std::size_t idle_bytes = much,
       const std::vector<engine::SharedRange>& shared = {})
      : Node(
            ranks, [process](auto& desk) { return std::make_unique<LocalProcess>(desk, process); },
            idle_bytes) {
    for (std::size_t i = 0; i < shared.size(); ++i)
      tell(static_cast<ir::Rank>(i), engine::handover::Share{shared[i]});
  }
  Node(ir::Rank ranks, const ProcessOf& process_of, std::size_t idle_bytes = much)
      : desks_(engine::handover::Desks::create(static_cast<std::uint32_t>(ranks), "test")) {
    fabric_.connect({{}}, std::vector<std::uint32_t>(static_cast<std::size_t>(ranks), 0U));
    for (ir::Rank rank = 0; rank < ranks; ++rank) {
      engine::handover::Desk& own = desk(rank);
      own.rank = rank;
      writers_.emplace_back(own.commands);
      Served::Office& office = *this;
      served_.push_back(std::make_unique<Served>(office, rank, process_of(own), own.commands, idle_bytes));
    }
  }

  ir::Rank ranks() const { return static_cast<ir::Rank>(served_.size()); }
  engine::handover::Desk& desk(ir::Rank rank) const { return desks_.desk(static_cast<std::uint32_t>(rank)); }
  Served& served(ir::Rank rank) { return *served_[static_cast<std::size_t>(rank)]; }
  /// Empty, or why it is not served any more.
  const std::string& refusal(ir::Rank rank) const { return refusals_[static_cast<std::size_t>(rank)]; }
  /// Of whom nothing comes, each time that somebody has said so.
  const std::vector<ir::Rank>& suspected() const { return suspected_; }
  bool is_served(ir::Rank rank) const { return refusal(rank).empty(); }

  /// Bytes as they are: as many as there is room for. Returns what is left.
  std::span<const std::byte> write(ir::Rank rank, std::span<const std::byte> bytes) {
    return bytes.subspan(writers_[static_cast<std::size_t>(rank)].write(bytes));
  }
  template <class Command>
  void tell(ir::Rank rank, const Command& command) {
    const Bytes bytes = encode(command);
    std::span<const std::byte> rest = bytes;
    while (!(rest = write(rank, rest)).empty() && is_served(rank)) turn();
  }

  /// One for every rank; true: something has moved.
  bool turn() {
    bool moved = false;
    for (ir::Rank rank = 0; rank < ranks(); ++rank) moved = (is_served(rank) && turn_of(rank)) || moved;
    return moved;
  }
  /// Until nothing moves any more.
  void settle() {
    for (int quiet = 0; quiet < 3;) quiet = turn() ? 0 : quiet + 1;
  }

  Status status(ir::Rank rank, std::uint32_t completion) const {
    return engine::handover::status_of(desk(rank).completions[completion].load());
  }
  void clear(ir::Rank rank, std::uint32_t completion) { desk(rank).completions[completion].store(0); }

 private:
  void connect(const engine::handover::Connect&, ir::Rank) override {
    throw Error("the workers know each other already");
  }
  std::unique_ptr<transports::mpi::Port> port_of(ir::Rank rank) override {
    return fabric_.port(rank, ranks());
  }
  bool still_reads() noexcept override { return fabric_.still_reads(); }
  bool has_lost(ir::Rank rank) noexcept override { return fabric_.has_lost(rank); }
  void beat() noexcept override {}
  void suspect(ir::Rank rank) noexcept override { suspected_.push_back(rank); }

  /// As a daemon does it.
  bool turn_of(ir::Rank rank) {
    try {
      return served(rank).turn();
    } catch (const std::exception& error) {
      refusals_[static_cast<std::size_t>(rank)] = error.what();
      served(rank).mourn();
      return true;
    }
  }

  LocalFabric fabric_;
  engine::handover::Desks desks_;
  std::vector<engine::handover::StreamWriter> writers_;
  std::array<std::string, 16> refusals_;
  std::vector<ir::Rank> suspected_;
  std::vector<std::unique_ptr<Served>> served_;  // its ports end before their fabric
};

}  // namespace hocket::worker
