#include "executors/blocking.hpp"

namespace hocket::executors {

using transports::Blocker;
using transports::Patience;

Status run_blocking(Machine& machine, const transports::Waiting& waiting) noexcept {
  Status status = machine.advance();
  while (status == Status::pending) {
    const std::size_t before = machine.progress();
    Patience patience(waiting, machine.blocker().peer);
    while (status == Status::pending && machine.progress() == before) {
      // What the blocker shows is read before the last look, so a change in between ends the pause at once.
      const Blocker blocker = machine.blocker();
      status = machine.advance();
      if (status != Status::pending || machine.progress() != before) break;
      if (const Status paused = patience.pause(blocker.word, blocker.seen); paused != Status::ok)
        return paused;
    }
  }
  return status;
}

}  // namespace hocket::executors
