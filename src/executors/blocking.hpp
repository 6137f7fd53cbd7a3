// The blocking executor: the calling rank runs its plan to the end, waiting as the communicator waits.
#pragma once

#include "executors/machine.hpp"
#include "transports/waiting.hpp"

namespace hocket::executors {

/// A machine, or whatever goes on as one does: advance(), blocker(), progress().
template <class Run>
Status run_blocking(Run& run, const transports::Waiting& waiting) noexcept {
  Status status = run.advance();
  transports::Patience patience(waiting, transports::nobody);
  while (status == Status::pending) {
    const std::size_t before = run.progress();
    patience.renew(run.blocker().peer);
    while (status == Status::pending && run.progress() == before) {
      // What the blocker shows is read before the last look, so a change in between ends the pause at once.
      const transports::Blocker blocker = run.blocker();
      status = run.advance();
      if (status != Status::pending || run.progress() != before) break;
      const transports::Blocker now = run.blocker();
      if (blocker.descriptor >= 0 && now.descriptor < 0) continue;  // it waits for something else
      // A descriptor tells of what has come before it is polled, too, and the look may have changed the
      // events.
      const Status paused = patience.pause(now.descriptor >= 0 ? now : blocker);
      if (paused != Status::ok) return paused;
    }
  }
  return status;
}

}  // namespace hocket::executors
