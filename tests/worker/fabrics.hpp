// Worker processes of a test: several fabrics in one process, or one each in threads and forked processes
// that tell each other their addresses.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "worker/ucx_fabric.hpp"

namespace hocket::test {

using ir::Rank;
using transports::mpi::Port;
using worker::UcxFabric;
using Address = std::vector<std::byte>;

/// What everything here takes at most before it counts as a hang.
inline constexpr double long_seconds = 15;

/// Those that UCX may use from now on; empty: those that it chooses.
inline void set_transports(const std::string& names) {
  names.empty() ? unsetenv("UCX_TLS") : setenv("UCX_TLS", names.c_str(), 1);
}

inline std::string name_of_transports(const std::string& names) {
  std::string name = names.empty() ? "default" : names;
  for (char& c : name)
    if (c == ',') c = '_';
  return name;
}

inline std::vector<std::uint32_t> one_rank_each(Rank ranks) {
  std::vector<std::uint32_t> process_of(static_cast<std::size_t>(ranks));
  std::iota(process_of.begin(), process_of.end(), 0U);
  return process_of;
}

inline std::vector<std::byte> filled(std::size_t bytes, int value) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}

/// Looks until it is so; false: it took too long.
template <class Look, class Done>
bool look_until(Look look, Done done, double seconds = long_seconds) {
  const Deadline deadline(seconds);
  while (!done()) {
    if (deadline.passed()) return false;
    look();
    std::this_thread::yield();
  }
  return true;
}

/// Processes that are all in this one, and take turns.
class Fabrics {
 public:
  explicit Fabrics(const std::vector<std::uint32_t>& process_of) {
    const std::uint32_t processes = *std::max_element(process_of.begin(), process_of.end()) + 1;
    std::vector<Address> addresses;
    for (std::uint32_t i = 0; i < processes; ++i) {
      fabrics_.push_back(UcxFabric::open());
      addresses.emplace_back(fabrics_.back()->address().begin(), fabrics_.back()->address().end());
    }
    for (const auto& fabric : fabrics_) fabric->connect(addresses, process_of);
    const auto ranks = static_cast<Rank>(process_of.size());
    for (Rank rank = 0; rank < ranks; ++rank)
      ports_.push_back(fabrics_[process_of[static_cast<std::size_t>(rank)]]->port(rank, ranks));
  }

  /// All at once: each waits for a moment that others take what it has sent.
  ~Fabrics() {
    ports_.clear();
    std::vector<std::thread> threads;
    for (auto& fabric : fabrics_) threads.emplace_back([&fabric] { fabric.reset(); });
    for (std::thread& thread : threads) thread.join();
  }

  Port& operator[](Rank rank) { return *ports_[static_cast<std::size_t>(rank)]; }
  std::unique_ptr<Port> take(Rank rank) { return std::move(ports_[static_cast<std::size_t>(rank)]); }
  UcxFabric& fabric(std::size_t process) { return *fabrics_[process]; }
  Rank ranks() const { return static_cast<Rank>(ports_.size()); }
  void close_port(Rank rank) { ports_[static_cast<std::size_t>(rank)].reset(); }
  void close(std::size_t process) { fabrics_[process].reset(); }

  bool look() {
    bool is_ok = true;
    for (const auto& port : ports_)
      if (port) is_ok = port->look() == Status::ok && is_ok;
    return is_ok;
  }
  template <class Done>
  bool until(Done done, double seconds = long_seconds) {
    return look_until([&] { look(); }, done, seconds);
  }
  /// pending: it took too long.
  Status outcome(Rank rank, Port::Ticket ticket) {
    Status status = Status::pending;
    until([&] { return (status = (*this)[rank].test(ticket)) != Status::pending; });
    return status;
  }

 private:
  std::vector<std::unique_ptr<UcxFabric>> fabrics_;
  std::vector<std::unique_ptr<Port>> ports_;
};

/// Memory that threads, and processes that are forked later, share.
class Board {
 public:
  explicit Board(Rank processes) : processes_(static_cast<std::size_t>(processes)) {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    shared_ = new (memory) Shared;
  }
  ~Board() { munmap(shared_, sizeof(Shared)); }
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  std::vector<Address> exchange(Rank self, std::span<const std::byte> own) {
    Slot& slot = shared_->slots[self];
    if (own.size() > sizeof slot.data) std::abort();
    std::memcpy(slot.data, own.data(), own.size());
    slot.bytes = static_cast<std::uint32_t>(own.size());
    std::vector<Address> all;
    for (std::size_t i = 0; i < processes_; ++i) {
      const Slot& other = shared_->slots[i];
      while (other.bytes == 0) std::this_thread::yield();
      all.emplace_back(other.data, other.data + other.bytes);
    }
    return all;
  }
  void arrive() { ++shared_->arrived; }
  bool all_arrived() const { return shared_->arrived >= processes_; }

 private:
  static constexpr std::size_t most = 8;
  struct Slot {
    std::atomic<std::uint32_t> bytes{0};
    std::byte data[16'000];
  };
  struct Shared {
    Slot slots[most];
    std::atomic<std::uint32_t> arrived{0};
  };
  std::size_t processes_;
  Shared* shared_ = nullptr;
};

/// The worker process of one rank.
struct Worker {
  Worker(Board& board, Rank self, Rank ranks) : fabric(UcxFabric::open()) {
    fabric->connect(board.exchange(self, fabric->address()), one_rank_each(ranks));
    port = fabric->port(self, ranks);
  }
  template <class Done>
  bool until(Done done, double seconds = long_seconds) {
    return look_until([&] { port->look(); }, done, seconds);
  }
  /// pending: it took too long.
  Status outcome(Port::Ticket ticket) {
    Status status = Status::pending;
    until([&] { return (status = port->test(ticket)) != Status::pending; });
    return status;
  }
  Status send(const std::vector<std::byte>& data, Rank to, std::uint32_t tag) {
    Port::Ticket ticket = 0;
    const Status s = port->send(data.data(), data.size(), to, tag, ticket);
    return s == Status::ok ? outcome(ticket) : s;
  }
  Status receive(std::vector<std::byte>& data, Rank from, std::uint32_t tag) {
    Port::Ticket ticket = 0;
    const Status s = port->receive(data.data(), data.size(), from, tag, ticket);
    return s == Status::ok ? outcome(ticket) : s;
  }

  std::unique_ptr<UcxFabric> fabric;
  std::unique_ptr<Port> port;
};

}  // namespace hocket::test
