// A rank's place at the worker of its node. Locks itself: threads of the rank may start operations at the
// same time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/handover/commands.hpp"
#include "engine/handover/desks.hpp"

namespace hocket::engine::handover {

class Client {
 public:
  struct Place {
    std::uint32_t desk = 0;
    Rank rank = 0;              ///< in the world
    double stall_seconds = 30;  ///< 0: a worker that stands still is waited for
    double setup_seconds = 10;
  };
  /// Takes the desk, and waits until the worker has found this rank's memory. Throws Error if it cannot, the
  /// desk is taken, or the worker has ended.
  Client(Desks desks, const Place& place);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Writes a command, waiting while the stream is full. False: the worker does not read it any more.
  bool tell(std::span<const std::byte> command) noexcept;

  /// Tells of memory that the worker may map, where it has not heard of it. False: as tell(). Throws
  /// std::bad_alloc.
  bool share_memory();

  /// False also where there is no memory to write it down.
  template <class Command>
  bool try_to_tell(const Command& command) noexcept {
    try {
      return tell(encode(command));
    } catch (...) {
      return false;
    }
  }
  /// This rank needs its worker no more, and tells it nothing from now on. Without it, it has died.
  void leave() noexcept;

  /// An unused number of a communicator or a call: never the same again.
  std::uint32_t next_number() noexcept { return ++numbers_; }

  /// One for an operation that is about to be started, saying that it is under way; nothing: all are in use.
  std::optional<std::uint32_t> take_completion() noexcept;
  /// The worker has said what it has to say there.
  void give_back(std::uint32_t completion) noexcept;
  Completion& completion(std::uint32_t index) noexcept { return desk_.completions[index]; }
  std::atomic<std::uint32_t>& sleepers() noexcept { return desk_.sleepers; }

  /// Sets of buffers that the worker uses where they are, as it says.
  std::uint64_t mapped_buffers() const noexcept { return desk_.mapped.load(std::memory_order_relaxed); }

  /// Why the worker says that an operation has failed; empty: it does not.
  std::string words() const;

  /// What the worker says of itself.
  const DesksHeader& header() const noexcept { return desks_.header(); }
  /// Until the worker knows those of the other nodes, after Connect. False: it does not, within that time.
  bool is_connected(double seconds) noexcept;
  /// How others reach this node's worker. Empty: they cannot, and why_alone() says why.
  std::span<const std::byte> worker_address() const noexcept;
  std::string why_alone() const;

  /// The worker lives, and has shown so within the stall limit. A system call: for long waits.
  bool is_well() noexcept;
  /// Why it is not, for people.
  std::string trouble() const;
  /// Whether a wait is longer than the stall limit.
  bool is_stall(std::uint64_t waited_ns) const noexcept { return stall_ns_ != 0 && waited_ns > stall_ns_; }

 private:
  enum class Trouble : std::uint8_t { none, ended, stands_still, given_up };

  void introduce(const Place& place);
  Trouble look() noexcept;
  bool lacks_core(std::uint64_t now) noexcept;
  void end_worker() noexcept;
  bool write(std::span<const std::byte> bytes) noexcept;
  void ring() noexcept;

  Desks desks_;
  Desk& desk_;
  const std::uint64_t stall_ns_;
  std::mutex mutex_;
  StreamWriter commands_;
  std::vector<std::uint32_t> unused_;
  std::atomic<std::uint32_t> numbers_{0};
  std::mutex sharing_;
  std::vector<SharedRange> shared_;  ///< what the worker has heard of
  bool broken_ = false;              ///< a command was left half written: no more can follow
  std::mutex looking_;               ///< of the thread that looks at the worker; others need not
  std::uint64_t pulse_ = 0, pulse_seen_ns_ = 0;
  struct {
    std::uint64_t at_ns = 0, ran_ns = 0;
  } observed_;  ///< the worker without a pulse
  std::atomic<Trouble> trouble_{Trouble::none};
};

}  // namespace hocket::engine::handover
