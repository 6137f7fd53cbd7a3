// How ranks tell each other something beside their calls, without a meeting: each leaves a note in its own
// part of the shared memory in the same call, and reads all others' in a later call, again the same on all.
//
// Calls are numbered alike on all ranks. Who has finished call n has left what it had to leave before; and a
// rank tells that it has finished calls in every eighth one at least. So who has itself got past the first of
// those from n on may wait for the others to tell: that ends without anything that this rank has still to do.
// Four calls later they normally have told, and nobody waits.
//
// What was read may be overwritten as soon as all have finished the call in which they read it. Whoever
// writes there next makes sure of that: by a notice of its own, given in that call or later.
#pragma once

#include <cstdint>

#include "transports/shm/channel.hpp"

namespace hocket::transports::shm {

class Notice {
 public:
  /// Between giving it, which may be after the last call or before the next, and its being due.
  static constexpr std::uint32_t most_calls = Channel::finish_every + 3;

  /// This rank's note is in its place, as are those that the others leave between the same two calls.
  void give(const Channel& channel) noexcept {
    const std::uint32_t next = channel.instance() + 1;
    told_in_ = (next + Channel::finish_every - 1) / Channel::finish_every * Channel::finish_every;
  }

  /// May be read before this call, or a later one. The same answer on all ranks.
  bool is_due_before(std::uint32_t instance) const noexcept {
    return static_cast<std::int32_t>(instance - told_in_ - calls_of_grace) >= 0;
  }
  bool is_due(const Channel& channel) const noexcept { return is_due_before(channel.instance() + 1); }

  /// Once it is due: waits for ranks that are far behind. False: the communicator has failed, as the next
  /// call will find.
  bool given_by_all(Channel& channel) const noexcept { return channel.all_finished(told_in_) == Status::ok; }

 private:
  static constexpr std::uint32_t calls_of_grace = 4;
  std::uint32_t told_in_ = 0;  ///< who has finished this instance has given the notice, and says so
};

}  // namespace hocket::transports::shm
