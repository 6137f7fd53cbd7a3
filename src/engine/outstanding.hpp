// A non-blocking collective under way, as its communicator made it and as who progresses it sees it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "transports/transport.hpp"
#include "transports/waiting.hpp"

namespace hocket::engine {

class Outstanding {
 public:
  virtual ~Outstanding() = default;

  /// Goes on as far as it can without waiting. ok: the data are where they belong; it must not be advanced
  /// again. Never from two threads at once.
  virtual Status advance() noexcept = 0;

  /// What the last pending advance() waits for, and how this communicator's ranks wait.
  virtual transports::Blocker blocker() noexcept = 0;
  virtual const transports::Waiting& waiting() const noexcept = 0;

  /// Grows as it goes on; 0 where that is not counted.
  virtual std::size_t progress() const noexcept { return 0; }

  /// All that peers need of this rank is there: nobody but who waits for it gains by going on with it.
  virtual bool has_given() const noexcept { return false; }

  /// What advance() calls beside Hocket's own code.
  enum class Needs : std::uint8_t {
    nothing,  ///< any thread may advance it
    mpi,      ///< messages of the MPI
    program,  ///< the program's own reduction operation: not on a thread that the program does not know
  };
  virtual Needs needs() const noexcept = 0;

  /// A wait for it has ended with this status: it cannot go on.
  virtual void fail(Status status) noexcept = 0;

  /// Instead of release(), for the next start of the same call: the same operation once more. False: it
  /// cannot be, and the communicator has failed. Only of those that do not wait for others to begin
  /// (Path::flat), and while what was prepared for it is up to date.
  virtual bool repeat() noexcept { return false; }

  /// It has ended, and is not used any more: it belongs to its communicator again.
  virtual void release() noexcept = 0;
};

}  // namespace hocket::engine
