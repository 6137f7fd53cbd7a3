#include "engine/compiled/small_blocks.hpp"

#include <algorithm>

#include "engine/compiled/move.hpp"

namespace hocket::engine::compiled {
namespace {

using executors::Operation;
using ir::Collective;
using ir::Rank;
using transports::shm::Channel;
using transports::shm::inline_bytes;
using transports::shm::payload_area_bytes;

/// Of a block's size in the line; sizes that do not fit it are told as the largest one.
using Told = std::uint16_t;
constexpr std::size_t most_areas = 4;

Told told(std::size_t bytes) noexcept {
  return static_cast<Told>(std::min<std::size_t>(bytes, Told(~0U)));
}

/// One block on its way between this rank and a peer.
struct Block {
  std::size_t bytes;
  std::ptrdiff_t offset;  ///< in the user's buffer
};

/// Who sends to whom, and what; and where in its shared memory a sender keeps what it sends.
class Exchange {
 public:
  Exchange(Channel& channel, const Operation& op) noexcept
      : channel_(channel),
        op_(op),
        me_(channel.rank()),
        ranks_(channel.ranks()),
        receivers_(op.collective == Collective::gather ? 1 : static_cast<std::size_t>(ranks_ - 1)) {}

  std::size_t payload() const noexcept { return std::min(receivers_, most_areas) * payload_area_bytes; }

  template <class Act>
  void to_each(Act act) const noexcept {
    if (op_.collective == Collective::gather) {
      if (me_ != op_.root) act(op_.root);
    } else if (op_.collective == Collective::alltoall || me_ == op_.root) {
      others(act);
    }
  }
  /// Ends early where act(peer) is not ok.
  template <class Act>
  Status from_each(Act act) const noexcept {
    if (op_.collective == Collective::scatter) return me_ == op_.root ? Status::ok : act(op_.root);
    if (op_.collective == Collective::gather && me_ != op_.root) return Status::ok;
    Status status = Status::ok;
    others([&](Rank peer) {
      if (status == Status::ok) status = act(peer);
    });
    if (status == Status::ok) channel_.everyone_arrived();
    return status;
  }

  Block sent_to(Rank peer) const noexcept {
    const auto i = static_cast<std::size_t>(peer);
    if (op_.collective == Collective::gather) return {op_.own_bytes, 0};
    return {op_.input_blocks.size_of(i), op_.input_blocks.offset_of(i)};
  }
  Block received_from(Rank peer) const noexcept {
    const auto i = static_cast<std::size_t>(peer);
    if (op_.collective == Collective::scatter) return {op_.own_bytes, 0};
    return {op_.output_blocks.size_of(i), op_.output_blocks.offset_of(i)};
  }

  bool is_in_line(std::size_t bytes) const noexcept { return bytes + sizeof(Told) <= line_slot(); }
  bool is_small(std::size_t bytes) const noexcept { return is_in_line(bytes) || bytes <= beside_slot(); }

  /// In the sender's line or payload, for one of its receivers.
  std::size_t line_offset(Rank sender, Rank receiver) const noexcept {
    return number_of(sender, receiver) * line_slot();
  }
  std::size_t beside_offset(Rank sender, Rank receiver) const noexcept {
    return number_of(sender, receiver) * beside_slot();
  }

 private:
  template <class Act>
  void others(Act act) const noexcept {
    Rank peer = me_;
    for (Rank i = 1; i < ranks_; ++i) {
      if (++peer == ranks_) peer = 0;
      act(peer);
    }
  }
  std::size_t line_slot() const noexcept { return inline_bytes / receivers_; }
  std::size_t beside_slot() const noexcept { return payload() / receivers_; }
  std::size_t number_of(Rank sender, Rank receiver) const noexcept {
    if (receivers_ == 1) return 0;
    return static_cast<std::size_t>(receiver > sender ? receiver - sender - 1
                                                      : receiver - sender - 1 + ranks_);
  }

  Channel& channel_;
  const Operation& op_;
  Rank me_;
  Rank ranks_;
  std::size_t receivers_;
};

void publish(Channel& channel, const Exchange& exchange, const Operation& op, LargeBlocks& left) noexcept {
  std::byte* line = channel.own_line().payload.data();
  exchange.to_each([&](Rank peer) {
    const Block block = exchange.sent_to(peer);
    const auto* from = static_cast<const std::byte*>(op.input) + block.offset;
    std::byte* slot = line + exchange.line_offset(channel.rank(), peer);
    const Told size = told(block.bytes);
    std::memcpy(slot, &size, sizeof size);
    const bool small = exchange.is_small(block.bytes);
    if (exchange.is_in_line(block.bytes))
      move(slot + sizeof size, from, block.bytes);
    else if (small)
      move(channel.own_payload() + exchange.beside_offset(channel.rank(), peer), from, block.bytes);
    left.input_sizes[static_cast<std::size_t>(peer)] = small ? 0 : block.bytes;
    left.any = left.any || !small;
  });
  channel.announce();
}

Status take(Channel& channel, const Exchange& exchange, const Operation& op, Rank peer,
            LargeBlocks& left) noexcept {
  const Block block = exchange.received_from(peer);
  if (const Status arrived = channel.arrived(peer); arrived != Status::ok) return arrived;
  const std::byte* slot = channel.line_of(peer).payload.data() + exchange.line_offset(peer, channel.rank());
  Told size;
  std::memcpy(&size, slot, sizeof size);
  if (size != told(block.bytes)) return Status::mismatch;
  auto* to = static_cast<std::byte*>(op.output) + block.offset;
  const bool small = exchange.is_small(block.bytes);
  if (exchange.is_in_line(block.bytes))
    move(to, slot + sizeof size, block.bytes);
  else if (small)
    move(to, channel.payload_of(peer) + exchange.beside_offset(peer, channel.rank()), block.bytes);
  left.output_sizes[static_cast<std::size_t>(peer)] = small ? 0 : block.bytes;
  left.any = left.any || !small;
  return Status::ok;
}

bool has_own_block(const Channel& channel, const Operation& op) noexcept {
  return op.collective == Collective::alltoall || channel.rank() == op.root;
}

void copy_own_block(const Channel& channel, const Exchange& exchange, const Operation& op) noexcept {
  if (op.in_place || !has_own_block(channel, op)) return;
  const Block from = exchange.sent_to(channel.rank()), to = exchange.received_from(channel.rank());
  move(static_cast<std::byte*>(op.output) + to.offset, static_cast<const std::byte*>(op.input) + from.offset,
       from.bytes);
}

void describe_rest(const Channel& channel, const Operation& op, LargeBlocks& left) noexcept {
  const auto me = static_cast<std::size_t>(channel.rank());
  left.op = op;
  left.input_sizes[me] = left.output_sizes[me] = 0;
  if (op.input_blocks.sizes) left.op.input_blocks.sizes = left.input_sizes.data();
  if (op.output_blocks.sizes) left.op.output_blocks.sizes = left.output_sizes.data();
  if (has_own_block(channel, op)) left.op.own_bytes = 0;
}

}  // namespace

bool can_deliver_small_blocks(Rank ranks) noexcept {
  return ranks > 1 && inline_bytes / static_cast<std::size_t>(ranks - 1) >= sizeof(Told);
}

Status deliver_small_blocks(Channel& channel, const Operation& op, std::uint32_t signature,
                            LargeBlocks& left) noexcept {
  const Exchange exchange(channel, op);
  if (const Status s = channel.begin_with_payload(signature, exchange.payload()); s != Status::ok) return s;
  static_assert(Channel::finishes_lazily(most_areas * payload_area_bytes));
  left.any = false;
  publish(channel, exchange, op, left);
  copy_own_block(channel, exchange, op);
  const Status s = exchange.from_each([&](Rank peer) { return take(channel, exchange, op, peer, left); });
  if (left.any) describe_rest(channel, op, left);
  return s;
}

}  // namespace hocket::engine::compiled
