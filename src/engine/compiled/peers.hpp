// The other ranks of a communicator, in the order in which a compiled plan turns to them.
#pragma once

#include "base/status.hpp"
#include "transports/shm/channel.hpp"
#include "transports/shm/instance.hpp"

namespace hocket::engine::compiled {

/// Calls act(peer) for ranks rank+1, rank+2, ..., and ends early where it is not ok: starting behind oneself
/// spreads the readers.
template <class Act>
inline Status each_peer(const transports::shm::Channel& channel, Act act) noexcept {
  const ir::Rank ranks = channel.ranks();
  ir::Rank peer = channel.rank();
  for (ir::Rank i = 1; i < ranks; ++i) {
    if (++peer == ranks) peer = 0;
    if (const Status s = act(peer); s != Status::ok) return s;
  }
  return Status::ok;
}

/// The same for an instance, in which a peer may not be there yet: the next call goes on with that one.
template <class Act>
inline Status each_peer(transports::shm::Instance& instance, Act act) noexcept {
  const ir::Rank ranks = instance.ranks();
  for (ir::Rank& seen = instance.peers_seen(); seen + 1 < ranks; ++seen)
    if (const Status s = act((instance.rank() + 1 + seen) % ranks); s != Status::ok) return s;
  return Status::ok;
}

}  // namespace hocket::engine::compiled
