// The outcome of anything on the run path. Set-up code throws Error instead (error.hpp).
#pragma once

#include <cstdint>

namespace hocket {

enum class Status : std::uint8_t {
  ok,         ///< finished
  pending,    ///< not finished yet: call again
  mismatch,   ///< a peer made a different collective call on this communicator
  peer_dead,  ///< a peer process has ended
  failed,     ///< the communicator was given up because of an earlier error of some rank
  no_memory,  ///< the arena's budget is spent
};

}  // namespace hocket
