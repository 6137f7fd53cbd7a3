#include "engine/compiled/flat.hpp"

#include <array>
#include <cstring>

namespace hocket::engine::compiled {
namespace {

using transports::shm::Channel;
using transports::shm::inline_bytes;

/// memcpy without the call for what fits a register or two; small counts dominate here.
inline void move(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes == 8)
    std::memcpy(to, from, 8);
  else if (bytes == 4)
    std::memcpy(to, from, 4);
  else if (bytes != 0)
    std::memcpy(to, from, bytes);
}

/// Where this rank's payload of this size goes; peers find it at the same place.
inline std::byte* own_place(Channel& channel, std::size_t bytes) noexcept {
  return bytes <= inline_bytes ? channel.own_line().payload.data() : channel.own_payload();
}
inline const std::byte* place_of(const Channel& channel, Rank peer, std::size_t bytes) noexcept {
  return bytes <= inline_bytes ? channel.line_of(peer).payload.data() : channel.payload_of(peer);
}

inline void publish(Channel& channel, const void* data, std::size_t bytes) noexcept {
  move(own_place(channel, bytes), data, bytes);
  channel.announce();
}

inline const std::byte* at(const void* base, std::ptrdiff_t offset) noexcept {
  return static_cast<const std::byte*>(base) + offset;
}
inline std::byte* at(void* base, std::ptrdiff_t offset) noexcept { return static_cast<std::byte*>(base) + offset; }

/// Calls take(peer) for ranks rank+1, rank+2, ... as they arrive; starting behind oneself spreads the readers.
template <class Take>
inline Status from_each(Channel& channel, Take take) noexcept {
  const Rank ranks = channel.ranks();
  Rank peer = channel.rank();
  for (Rank i = 1; i < ranks; ++i) {
    if (++peer == ranks) peer = 0;
    if (const Status arrived = channel.arrived(peer); arrived != Status::ok) return arrived;
    take(peer);
  }
  channel.everyone_arrived();
  return Status::ok;
}

Status barrier(Channel& channel, const Operation&, std::uint32_t signature, const void**) noexcept {
  if (const Status s = channel.begin(signature); s != Status::ok) return s;
  channel.announce();
  const Status s = from_each(channel, [](Rank) {});
  channel.finish();
  return s;
}

Status bcast(Channel& channel, const Operation& op, std::uint32_t signature, const void**) noexcept {
  if (const Status s = channel.begin(signature); s != Status::ok) return s;
  Status s = Status::ok;
  if (channel.rank() == op.root) {
    publish(channel, op.input, op.own_bytes);
  } else {
    channel.announce();
    s = channel.arrived(op.root);
    if (s == Status::ok) move(op.output, place_of(channel, op.root, op.own_bytes), op.own_bytes);
  }
  channel.finish();
  return s;
}

/// Folds ranks [0, upto) in rank order; the own operand comes from the user's buffer at `own`.
inline void fold(Channel& channel, const Operation& op, Rank upto, const void* own, std::size_t published,
                 std::size_t offset, std::size_t bytes, const void** sources) noexcept {
  for (Rank r = 0; r < upto; ++r) sources[r] = place_of(channel, r, published) + offset;
  if (channel.rank() < upto) sources[channel.rank()] = own;
  op.reduction(op.output, sources, upto, bytes / op.reduction.element_bytes);
}

Status reduce(Channel& channel, const Operation& op, std::uint32_t signature, const void** sources) noexcept {
  if (const Status s = channel.begin(signature); s != Status::ok) return s;
  Status s = Status::ok;
  if (channel.rank() != op.root) {
    publish(channel, op.input, op.own_bytes);
  } else {
    channel.announce();
    s = from_each(channel, [](Rank) {});
    if (s == Status::ok) fold(channel, op, channel.ranks(), op.input, op.own_bytes, 0, op.own_bytes, sources);
  }
  channel.finish();
  return s;
}

Status allreduce(Channel& channel, const Operation& op, std::uint32_t signature, const void** sources) noexcept {
  if (const Status s = channel.begin(signature); s != Status::ok) return s;
  publish(channel, op.input, op.own_bytes);
  const Status s = from_each(channel, [](Rank) {});
  if (s == Status::ok) fold(channel, op, channel.ranks(), op.input, op.own_bytes, 0, op.own_bytes, sources);
  channel.finish();
  return s;
}

Status reduce_scatter(Channel& channel, const Operation& op, std::uint32_t signature,
                      const void** sources) noexcept {
  if (const Status s = channel.begin(signature); s != Status::ok) return s;
  const auto last = static_cast<std::size_t>(channel.ranks() - 1);
  const auto me = static_cast<std::size_t>(channel.rank());
  const auto offset = static_cast<std::size_t>(op.input_blocks.offset_of(me));
  const std::size_t all = static_cast<std::size_t>(op.input_blocks.offset_of(last)) + op.input_blocks.size_of(last);
  publish(channel, op.input, all);
  const Status s = from_each(channel, [](Rank) {});
  // In place, the result may overlap a part of the own operand: take the published copy.
  const void* own = op.in_place ? place_of(channel, channel.rank(), all) + offset
                                : at(op.input, static_cast<std::ptrdiff_t>(offset));
  if (s == Status::ok) fold(channel, op, channel.ranks(), own, all, offset, op.own_bytes, sources);
  channel.finish();
  return s;
}

/// Waits for the lower ranks only: later ranks do not hold up earlier ones.
template <bool inclusive>
Status prefix(Channel& channel, const Operation& op, std::uint32_t signature, const void** sources) noexcept {
  if (const Status s = channel.begin(signature); s != Status::ok) return s;
  const Rank me = channel.rank();
  publish(channel, op.input, op.own_bytes);
  Status s = Status::ok;
  for (Rank r = 0; r < me && s == Status::ok; ++r) s = channel.arrived(r);
  const Rank upto = inclusive ? me + 1 : me;
  if (s == Status::ok && upto > 0) fold(channel, op, upto, op.input, op.own_bytes, 0, op.own_bytes, sources);
  channel.finish();
  return s;
}

Status gather(Channel& channel, const Operation& op, std::uint32_t signature, const void**) noexcept {
  if (const Status s = channel.begin(signature); s != Status::ok) return s;
  Status s = Status::ok;
  if (channel.rank() != op.root) {
    publish(channel, op.input, op.own_bytes);
  } else {
    channel.announce();
    if (!op.in_place) move(at(op.output, op.output_blocks.offset_of(static_cast<std::size_t>(op.root))), op.input, op.own_bytes);
    s = from_each(channel, [&](Rank peer) {
      const auto block = static_cast<std::size_t>(peer);
      const std::size_t bytes = op.output_blocks.size_of(block);
      move(at(op.output, op.output_blocks.offset_of(block)), place_of(channel, peer, bytes), bytes);
    });
  }
  channel.finish();
  return s;
}

Status allgather(Channel& channel, const Operation& op, std::uint32_t signature, const void**) noexcept {
  if (const Status s = channel.begin(signature); s != Status::ok) return s;
  const auto me = static_cast<std::size_t>(channel.rank());
  std::byte* own = at(op.output, op.output_blocks.offset_of(me));
  publish(channel, op.in_place ? own : op.input, op.own_bytes);
  if (!op.in_place) move(own, op.input, op.own_bytes);
  const Status s = from_each(channel, [&](Rank peer) {
    const auto block = static_cast<std::size_t>(peer);
    const std::size_t bytes = op.output_blocks.size_of(block);
    move(at(op.output, op.output_blocks.offset_of(block)), place_of(channel, peer, bytes), bytes);
  });
  channel.finish();
  return s;
}

/// Regular blocks of `size` bytes; the root publishes all of them in one piece.
Status scatter(Channel& channel, const Operation& op, std::uint32_t signature, const void**) noexcept {
  if (const Status s = channel.begin(signature); s != Status::ok) return s;
  const std::size_t block = op.agreed_bytes;
  const std::size_t all = block * static_cast<std::size_t>(channel.ranks());
  const auto own = static_cast<std::ptrdiff_t>(block * static_cast<std::size_t>(channel.rank()));
  Status s = Status::ok;
  if (channel.rank() == op.root) {
    publish(channel, op.input, all);
    if (!op.in_place) move(op.output, at(op.input, own), block);
  } else {
    channel.announce();
    s = channel.arrived(op.root);
    if (s == Status::ok) move(op.output, place_of(channel, op.root, all) + own, block);
  }
  channel.finish();
  return s;
}

Status alltoall(Channel& channel, const Operation& op, std::uint32_t signature, const void**) noexcept {
  if (const Status s = channel.begin(signature); s != Status::ok) return s;
  const std::size_t block = op.agreed_bytes;
  const std::size_t all = block * static_cast<std::size_t>(channel.ranks());
  const auto own = static_cast<std::ptrdiff_t>(block * static_cast<std::size_t>(channel.rank()));
  publish(channel, op.input, all);
  if (!op.in_place) move(at(op.output, own), at(op.input, own), block);
  const Status s = from_each(channel, [&](Rank peer) {
    move(at(op.output, static_cast<std::ptrdiff_t>(block * static_cast<std::size_t>(peer))),
         place_of(channel, peer, all) + own, block);
  });
  channel.finish();
  return s;
}

constexpr std::array<FlatPlan, ir::collective_count> plans = {
    barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, reduce_scatter, prefix<true>, prefix<false>};

}  // namespace

FlatPlan find_flat(ir::Collective collective) noexcept { return plans[static_cast<std::size_t>(collective)]; }

std::size_t published_bytes(ir::Collective collective, Rank ranks, std::size_t agreed_bytes,
                            std::size_t largest_block) noexcept {
  switch (collective) {
    case ir::Collective::scatter:
    case ir::Collective::alltoall:
      return agreed_bytes * static_cast<std::size_t>(ranks);
    case ir::Collective::reduce_scatter:
      return largest_block * static_cast<std::size_t>(ranks);
    case ir::Collective::allgather:
      return largest_block;
    default:
      return agreed_bytes;
  }
}

}  // namespace hocket::engine::compiled
