// Point-to-point between the processes of a job: as little of MPI's as carrying schedules takes. The MPI edge
// has it (interpose/plugin/network/mpi_port.hpp), and tests have one with delays (transports/fake/wire.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "ir/collective.hpp"

namespace hocket::transports::mpi {

using ir::Rank;

/// Messages of one pair of ranks and one tag arrive in the order in which they were sent, and meet receives
/// in the order in which those were posted. Nothing here waits. Not for two threads at a time.
class Port {
 public:
  /// A send or a receive under way.
  using Ticket = std::uint32_t;

  virtual ~Port() = default;
  virtual Rank rank() const noexcept = 0;  ///< in the world, as are all ranks here
  virtual Rank ranks() const noexcept = 0;
  virtual std::uint32_t last_tag() const noexcept = 0;
  /// What a message that is heard may carry, whose sender sees to it until it has left.
  virtual std::size_t longest_heard() const noexcept = 0;
  /// May be used by any thread at any time, not only where the program is inside of a call of MPI.
  virtual bool any_thread() const noexcept = 0;

  virtual Status send(const void* data, std::size_t bytes, Rank to, std::uint32_t tag,
                      Ticket& ticket) noexcept = 0;
  virtual Status receive(void* data, std::size_t bytes, Rank from, std::uint32_t tag,
                         Ticket& ticket) noexcept = 0;
  /// Asks what has become of everything that is under way, and what has come in places that listen: once for
  /// all of it, since asking is what takes time. test() and heard() tell the answers. pending: there are
  /// none.
  virtual Status look() noexcept = 0;
  /// ok: complete, and the ticket is used up. pending: not as far as is known. Or an error.
  virtual Status test(Ticket ticket) noexcept = 0;
  /// Gives up: a receive writes to its memory no more when this returns.
  virtual void abandon(Ticket ticket) noexcept = 0;

  /// Messages of anybody with tag 0 are received in places. listen() makes one ready for its next message.
  /// They are few, since all of them are asked about in each look; what finds none waits in the MPI.
  static constexpr std::uint32_t places = 4;
  virtual Status listen(std::uint32_t place, void* data, std::size_t bytes) noexcept = 0;
  /// Whether the last look found one more message: in this place, which does not listen any more.
  virtual bool heard(std::uint32_t& place, Rank& from) noexcept = 0;
};

}  // namespace hocket::transports::mpi
