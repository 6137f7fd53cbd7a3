// Gatherv, scatterv and alltoallv without the interpreter while blocks are small. No size of such a call is
// known to all ranks, but both ends of a block know its size: so each block goes, for its pair alone, in the
// sender's flag line, in the payload beside it, or is left to the interpreted plan of the row that was
// selected. The sender writes every block's size into its line, so that ends that disagree are noticed.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "executors/operation.hpp"
#include "transports/shm/channel.hpp"

namespace hocket::engine::compiled {

/// What is left to do of an operation: the same one, with the blocks that have been delivered empty.
struct LargeBlocks {
  explicit LargeBlocks(ir::Rank ranks)
      : input_sizes(static_cast<std::size_t>(ranks)), output_sizes(static_cast<std::size_t>(ranks)) {}

  bool any = false;
  executors::Operation op;  ///< valid if any
  std::vector<std::size_t> input_sizes, output_sizes;
};

/// The line has room for the size of every block that a rank sends.
bool can_deliver_small_blocks(ir::Rank ranks) noexcept;

/// Begins the channel's next instance and delivers what is small; ending the instance is the caller's.
Status deliver_small_blocks(transports::shm::Channel& channel, const executors::Operation& op,
                            std::uint32_t signature, LargeBlocks& left) noexcept;

}  // namespace hocket::engine::compiled
