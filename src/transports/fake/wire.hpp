// A network in one process: the ports of a job whose ranks are threads. It delays messages at random, and so
// changes the order in which those of different ranks or tags arrive, as networks do; long ones leave their
// sender only when a receiver has asked for them, as in MPI. For tests.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "transports/mpi/port.hpp"

namespace hocket::transports::fake {

struct WireSettings {
  std::uint64_t seed = 1;
  double delay = 0;                    ///< probability that a look finds nothing, though there is something
  std::size_t buffered_bytes = 4096;   ///< longer messages wait for their receiver
  std::size_t longest_heard = 20'000;  ///< more than a packet
  std::uint32_t last_tag = 32767;
  bool reads_abandoned = false;  ///< sends that were given up arrive, as over an MPI
  std::uint64_t fail_after = 0;  ///< this many sends work, then every one fails; 0: never
};

class Wire {
 public:
  Wire(ir::Rank ranks, const WireSettings& settings);
  ~Wire();

  /// Outlived by the wire.
  std::unique_ptr<mpi::Port> port(ir::Rank rank);
  /// Of all ranks, so far.
  std::uint64_t looks() noexcept {
    const std::lock_guard lock(mutex_);
    return looks_;
  }

 private:
  class WirePort;
  struct Message;
  struct Receive;

  bool delayed() noexcept;
  void match(ir::Rank receiver);

  const ir::Rank ranks_;
  const WireSettings settings_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::uint64_t sends_ = 0, looks_ = 0;
  std::vector<std::list<Message>> under_way_;  ///< by receiver, in the order of sending
  std::vector<std::list<Receive>> receives_;   ///< posted, in order
};

}  // namespace hocket::transports::fake
