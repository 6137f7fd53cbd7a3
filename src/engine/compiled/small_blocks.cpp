#include "engine/compiled/small_blocks.hpp"

#include <algorithm>

#include "engine/compiled/move.hpp"
#include "engine/compiled/peers.hpp"

namespace hocket::engine::compiled {

using executors::Operation;
using ir::Collective;
using ir::Rank;
using transports::shm::Channel;
using transports::shm::inline_bytes;
using transports::shm::payload_area_bytes;

namespace {

/// Of a block's size in the line; sizes that do not fit it are told as the largest one.
using Told = std::uint16_t;
constexpr std::size_t most_areas = 4;
constexpr std::size_t most_payload_bytes = most_areas * payload_area_bytes;
static_assert(Channel::finishes_lazily(most_payload_bytes));

Told told(std::size_t bytes) noexcept {
  return static_cast<Told>(std::min<std::size_t>(bytes, Told(~0U)));
}

/// One block on its way between this rank and a peer.
struct Block {
  std::size_t bytes;
  std::ptrdiff_t offset;  ///< in the user's buffer
};

}  // namespace

Slots::Slots(std::size_t receivers) noexcept {
  if (receivers == 0) return;
  payload = std::min(receivers * payload_area_bytes, most_payload_bytes);
  line = inline_bytes / receivers;
  beside = payload / receivers;
}

/// Who sends to whom, and what; and where in its shared memory a sender keeps what it sends.
class SmallBlocks::Exchange {
 public:
  Exchange(Channel& its_channel, const Operation& operation, const Slots& its_slots) noexcept
      : channel(its_channel), op(operation), slots(its_slots), me_(its_channel.rank()) {}

  template <class Act>
  void to_each(Act act) const noexcept {
    if (op.collective == Collective::gather) {
      if (me_ != op.root) act(op.root);
    } else if (op.collective == Collective::alltoall || me_ == op.root) {
      each_peer(channel, [&](Rank peer) {
        act(peer);
        return Status::ok;
      });
    }
  }
  /// Ends early where act(peer) is not ok.
  template <class Act>
  Status from_each(Act act) const noexcept {
    if (op.collective == Collective::scatter) return me_ == op.root ? Status::ok : act(op.root);
    if (op.collective == Collective::gather && me_ != op.root) return Status::ok;
    const Status s = each_peer(channel, act);
    if (s == Status::ok) channel.everyone_arrived();
    return s;
  }

  Block sent_to(Rank peer) const noexcept {
    const auto i = static_cast<std::size_t>(peer);
    if (op.collective == Collective::gather) return {op.own_bytes, 0};
    return {op.input_blocks.size_of(i), op.input_blocks.offset_of(i)};
  }
  Block received_from(Rank peer) const noexcept {
    const auto i = static_cast<std::size_t>(peer);
    if (op.collective == Collective::scatter) return {op.own_bytes, 0};
    return {op.output_blocks.size_of(i), op.output_blocks.offset_of(i)};
  }
  bool has_own_block() const noexcept { return op.collective == Collective::alltoall || me_ == op.root; }
  void copy_own_block() const noexcept {
    if (op.in_place || !has_own_block()) return;
    const Block from = sent_to(me_), to = received_from(me_);
    move(static_cast<std::byte*>(op.output) + to.offset,
         static_cast<const std::byte*>(op.input) + from.offset, from.bytes);
  }

  bool is_in_line(std::size_t bytes) const noexcept { return bytes + sizeof(Told) <= slots.line; }
  bool is_small(std::size_t bytes) const noexcept { return is_in_line(bytes) || bytes <= slots.beside; }
  /// Of a receiver among the sender's.
  std::size_t number_of(Rank sender, Rank receiver) const noexcept {
    if (op.collective == Collective::gather) return 0;
    return static_cast<std::size_t>(receiver > sender ? receiver - sender - 1
                                                      : receiver - sender - 1 + channel.ranks());
  }

  Channel& channel;
  const Operation& op;
  const Slots& slots;

 private:
  Rank me_;
};

std::string Disagreement::text(Rank receiver) const {
  const std::string at_least = sent == Told(~0U) ? "at least " : "";
  return "rank " + std::to_string(sender) + " sends " + at_least + std::to_string(sent) + " bytes to rank " +
         std::to_string(receiver) + ", which expects " + std::to_string(expected);
}

bool SmallBlocks::possible(Rank ranks) noexcept {
  return ranks > 1 && Slots(static_cast<std::size_t>(ranks - 1)).line >= sizeof(Told);
}

Status SmallBlocks::deliver(Channel& channel, const Operation& op, std::uint32_t signature) noexcept {
  const Exchange exchange(channel, op, op.collective == Collective::gather ? to_one_ : to_others_);
  if (const Status s = channel.begin_with_payload(signature, exchange.slots.payload); s != Status::ok)
    return s;
  any_left_ = false;
  publish(exchange);
  exchange.copy_own_block();
  const Status s = exchange.from_each([&](Rank peer) { return take(exchange, peer); });
  if (any_left_) describe_rest(exchange);
  return s;
}

void SmallBlocks::publish(const Exchange& exchange) noexcept {
  Channel& channel = exchange.channel;
  exchange.to_each([&](Rank peer) {
    const Block block = exchange.sent_to(peer);
    const std::size_t number = exchange.number_of(channel.rank(), peer);
    const auto* from = static_cast<const std::byte*>(exchange.op.input) + block.offset;
    std::byte* slot = channel.own_line().payload.data() + number * exchange.slots.line;
    const Told size = told(block.bytes);
    std::memcpy(slot, &size, sizeof size);
    const bool small = exchange.is_small(block.bytes);
    if (exchange.is_in_line(block.bytes))
      move(slot + sizeof size, from, block.bytes);
    else if (small)
      move(channel.own_payload() + number * exchange.slots.beside, from, block.bytes);
    input_sizes_[static_cast<std::size_t>(peer)] = small ? 0 : block.bytes;
    any_left_ = any_left_ || !small;
  });
  channel.announce();
}

Status SmallBlocks::take(const Exchange& exchange, Rank peer) noexcept {
  Channel& channel = exchange.channel;
  const Block block = exchange.received_from(peer);
  const std::size_t number = exchange.number_of(peer, channel.rank());
  if (const Status arrived = channel.arrived(peer); arrived != Status::ok) return arrived;
  const std::byte* slot = channel.line_of(peer).payload.data() + number * exchange.slots.line;
  Told size;
  std::memcpy(&size, slot, sizeof size);
  if (size != told(block.bytes)) {
    disagreement_ = {peer, size, block.bytes};
    return Status::mismatch;
  }
  auto* to = static_cast<std::byte*>(exchange.op.output) + block.offset;
  const bool small = exchange.is_small(block.bytes);
  if (exchange.is_in_line(block.bytes))
    move(to, slot + sizeof size, block.bytes);
  else if (small)
    move(to, channel.payload_of(peer) + number * exchange.slots.beside, block.bytes);
  output_sizes_[static_cast<std::size_t>(peer)] = small ? 0 : block.bytes;
  any_left_ = any_left_ || !small;
  return Status::ok;
}

void SmallBlocks::describe_rest(const Exchange& exchange) noexcept {
  const auto me = static_cast<std::size_t>(exchange.channel.rank());
  left_ = exchange.op;
  input_sizes_[me] = output_sizes_[me] = 0;
  if (left_.input_blocks.sizes) left_.input_blocks.sizes = input_sizes_.data();
  if (left_.output_blocks.sizes) left_.output_blocks.sizes = output_sizes_.data();
  if (exchange.has_own_block()) left_.own_bytes = 0;
}

}  // namespace hocket::engine::compiled
