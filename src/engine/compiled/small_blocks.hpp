// Gatherv, scatterv and alltoallv without the interpreter while blocks are small. No size of such a call is
// known to all ranks, but both ends of a block know its size: so each block goes, for its pair alone, in the
// sender's flag line, in the payload beside it, or is left to the interpreted plan of the row that was
// selected. The sender writes every block's size into its line, so that ends that disagree are noticed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "executors/operation.hpp"
#include "transports/shm/channel.hpp"

namespace hocket::engine::compiled {

/// What a sender has for each of its receivers: bytes in its flag line (the block's size included) and beside
/// it.
struct Slots {
  explicit Slots(std::size_t receivers) noexcept;

  std::size_t line = 0;
  std::size_t beside = 0;
  std::size_t payload = 0;  ///< of all receivers, beside the line
};

/// A block whose ends expect different sizes.
struct Disagreement {
  ir::Rank sender = 0;
  std::size_t sent = 0;  ///< bytes; sizes that do not fit 16 bits are told as 65535
  std::size_t expected = 0;

  std::string text(ir::Rank receiver) const;
};

class SmallBlocks {
 public:
  explicit SmallBlocks(ir::Rank ranks)
      : to_one_(1),
        to_others_(static_cast<std::size_t>(ranks - 1)),
        input_sizes_(static_cast<std::size_t>(ranks)),
        output_sizes_(static_cast<std::size_t>(ranks)) {}

  /// The line has room for the size of every block that a rank sends.
  static bool possible(ir::Rank ranks) noexcept;

  /// Begins the channel's next instance and delivers what is small; ending the instance is the caller's.
  Status deliver(transports::shm::Channel& channel, const executors::Operation& op,
                 std::uint32_t signature) noexcept;

  /// After deliver(): what is left to do, null if nothing. The same operation, with the blocks that have been
  /// delivered empty.
  const executors::Operation* left() const noexcept { return any_left_ ? &left_ : nullptr; }
  /// Why deliver() has found a mismatch, if it was for a block.
  const std::optional<Disagreement>& disagreement() const noexcept { return disagreement_; }

 private:
  class Exchange;
  void publish(const Exchange& exchange) noexcept;
  Status take(const Exchange& exchange, ir::Rank peer) noexcept;
  void describe_rest(const Exchange& exchange) noexcept;

  Slots to_one_, to_others_;
  bool any_left_ = false;
  executors::Operation left_;
  std::optional<Disagreement> disagreement_;
  std::vector<std::size_t> input_sizes_, output_sizes_;  ///< of what is left
};

}  // namespace hocket::engine::compiled
