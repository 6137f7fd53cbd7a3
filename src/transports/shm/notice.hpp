// How ranks tell each other something beside their calls, without a meeting: each leaves a note in its own
// part of the shared memory in the same call, and reads all others' in a later call, again the same on all.
//
// Calls are numbered alike on all ranks. Who has finished call n has left what it had to leave before; and
// who begins call n + 8 may wait for those that have not finished n: normally all have. Eight calls are
// enough that the wait ends without anything that this rank has still to do, since "finished" is told for
// every eighth instance at least.
//
// What was read may be overwritten as soon as all have finished the call in which they read it. Whoever
// writes there next makes sure of that: by a notice of its own, given in that call or later.
#pragma once

#include <cstdint>

#include "transports/shm/channel.hpp"

namespace hocket::transports::shm {

class Notice {
 public:
  static constexpr std::uint32_t calls_until_told = 8;
  static_assert(calls_until_told >= Channel::finish_every);

  /// This rank's note is in its place, as are those that the others leave between the same two calls.
  void give(const Channel& channel) noexcept { instance_ = channel.instance() + 1; }

  /// May be read before this call, or a later one. The same answer on all ranks.
  bool is_due_before(std::uint32_t instance) const noexcept {
    return static_cast<std::int32_t>(instance - instance_ - calls_until_told) >= 0;
  }
  bool is_due(const Channel& channel) const noexcept { return is_due_before(channel.instance() + 1); }

  /// Once it is due: waits for ranks that are far behind. False: the communicator has failed, as the next
  /// call will find.
  bool given_by_all(Channel& channel) const noexcept { return channel.all_finished(instance_) == Status::ok; }

 private:
  std::uint32_t instance_ = 0;  ///< who has finished it has given the notice
};

}  // namespace hocket::transports::shm
