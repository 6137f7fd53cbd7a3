// What carries the messages of the ranks that a worker process serves: among themselves, and to and from
// those that others serve. It is one thread's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transports/mpi/port.hpp"
#include "worker/naps.hpp"

namespace hocket::worker {

using transports::mpi::Rank;

/// Of a packet that the ports of all fabrics hear. UCX sends as much without asking the receiver, in one
/// piece (up to 8185 bytes).
inline constexpr std::size_t longest_packet = 8000;

class Fabric {
 public:
  Fabric() = default;
  virtual ~Fabric() = default;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  /// What others need to reach this process. Empty: they cannot.
  virtual std::span<const std::byte> address() const noexcept = 0;
  /// Once: the addresses of all processes, this one's among them, and for every rank of the world the index
  /// of the process that serves it. All processes give the same. Throws Error for one that cannot be reached.
  virtual void connect(const std::vector<std::vector<std::byte>>& addresses,
                       std::vector<std::uint32_t> process_of) = 0;
  /// Of a rank that this process serves; once for each. Outlived by the fabric.
  virtual std::unique_ptr<transports::mpi::Port> port(Rank self, Rank ranks) = 0;

  /// The process that serves this rank has ended, or was given up: nothing comes from it any more. It is
  /// noticed when there is a connection to it, or when something is sent to it.
  virtual bool has_lost(Rank rank) const noexcept = 0;
  /// Says whoever knows better of the process that serves this rank: a network may take a quarter of an hour
  /// to notice a node that vanishes.
  virtual void lose(Rank rank) noexcept = 0;
  /// For who rests until something comes: it has to be asked before each rest.
  virtual Alarm alarm() noexcept { return {}; }
  /// Rises with all that goes on, also in the middle of a message.
  virtual std::uint64_t moved() const noexcept { return 0; }
  /// Whether sends that were given up still need their memory: the views of a rank that has left stay mapped,
  /// and its Network alive, until they do not.
  virtual bool still_reads() noexcept = 0;
  /// For people: the transports that carry the messages, as "self/memory within this process; tcp/eth0 to 3".
  virtual std::string carriers() const = 0;
};

/// Between processes on several machines, over the network that this build knows; `device`: only by this one
/// of the machine ("eth0"), else by all that the user's own options leave. Throws Error where there is none.
std::unique_ptr<Fabric> open_network(const std::string& device = {});

}  // namespace hocket::worker
