#include "engine/compiled/flat.hpp"

#include "engine/compiled/move.hpp"
#include "engine/compiled/peers.hpp"

namespace hocket::engine::compiled {
namespace {

using transports::shm::Channel;
using transports::shm::inline_bytes;

inline bool beside(const FlatCall& call) noexcept {
  return call.published > inline_bytes;
}

inline Status begin(const FlatCall& call) noexcept {
  return beside(call) ? call.channel.begin_with_payload(call.signature, call.published)
                      : call.channel.begin(call.signature);
}

inline void finish(const FlatCall& call) noexcept {
  if (Channel::finishes_lazily(call.published))
    call.channel.finish();
  else
    call.channel.finish_now();
}

/// Where this rank's payload goes; peers find it at the same place.
inline std::byte* own_place(const FlatCall& call) noexcept {
  return beside(call) ? call.channel.own_payload() : call.channel.own_line().payload.data();
}
inline const std::byte* place_of(const FlatCall& call, Rank peer) noexcept {
  return beside(call) ? call.channel.payload_of(peer) : call.channel.line_of(peer).payload.data();
}

inline void publish(const FlatCall& call, const void* data, std::size_t bytes) noexcept {
  move(own_place(call), data, bytes);
  call.channel.announce();
}

inline const std::byte* at(const void* base, std::ptrdiff_t offset) noexcept {
  return static_cast<const std::byte*>(base) + offset;
}
inline std::byte* at(void* base, std::ptrdiff_t offset) noexcept {
  return static_cast<std::byte*>(base) + offset;
}

/// Calls take(peer) for every other rank once it has arrived.
template <class Take>
inline Status from_each(Channel& channel, Take take) noexcept {
  const Status s = each_peer(channel, [&](Rank peer) {
    const Status arrived = channel.arrived(peer);
    if (arrived == Status::ok) take(peer);
    return arrived;
  });
  if (s != Status::ok) return s;
  channel.everyone_arrived();
  return Status::ok;
}

Status barrier(const FlatCall& call) noexcept {
  call.channel.announce();
  return from_each(call.channel, [](Rank) {});
}

Status bcast(const FlatCall& call) noexcept {
  Channel& channel = call.channel;
  const Operation& op = call.op;
  if (channel.rank() == op.root) {
    publish(call, op.input, op.own_bytes);
    return Status::ok;
  }
  channel.announce();
  const Status s = channel.arrived(op.root);
  if (s == Status::ok) move(op.output, place_of(call, op.root), op.own_bytes);
  return s;
}

/// Folds ranks [0, upto) in rank order; the own operand comes from the user's buffer at `own`.
inline void fold(const FlatCall& call, Rank upto, const void* own, std::size_t offset,
                 std::size_t bytes) noexcept {
  const void** sources = call.sources;
  const Operation& op = call.op;
  for (Rank r = 0; r < upto; ++r) sources[r] = place_of(call, r) + offset;
  if (call.channel.rank() < upto) sources[call.channel.rank()] = own;
  op.reduction(op.output, sources, upto, bytes / op.reduction.element_bytes);
}

Status reduce(const FlatCall& call) noexcept {
  Channel& channel = call.channel;
  const Operation& op = call.op;
  if (channel.rank() != op.root) {
    publish(call, op.input, op.own_bytes);
    return Status::ok;
  }
  channel.announce();
  const Status s = from_each(channel, [](Rank) {});
  if (s == Status::ok) fold(call, channel.ranks(), op.input, 0, op.own_bytes);
  return s;
}

Status allreduce(const FlatCall& call) noexcept {
  Channel& channel = call.channel;
  const Operation& op = call.op;
  publish(call, op.input, op.own_bytes);
  const Status s = from_each(channel, [](Rank) {});
  if (s == Status::ok) fold(call, channel.ranks(), op.input, 0, op.own_bytes);
  return s;
}

Status reduce_scatter(const FlatCall& call) noexcept {
  Channel& channel = call.channel;
  const Operation& op = call.op;
  const auto last = static_cast<std::size_t>(channel.ranks() - 1);
  const auto me = static_cast<std::size_t>(channel.rank());
  const auto offset = static_cast<std::size_t>(op.input_blocks.offset_of(me));
  const std::size_t all =
      static_cast<std::size_t>(op.input_blocks.offset_of(last)) + op.input_blocks.size_of(last);
  publish(call, op.input, all);
  const Status s = from_each(channel, [](Rank) {});
  // In place, the result may overlap a part of the own operand: take the published copy.
  const void* own = op.in_place ? place_of(call, channel.rank()) + offset
                                : at(op.input, static_cast<std::ptrdiff_t>(offset));
  if (s == Status::ok) fold(call, channel.ranks(), own, offset, op.own_bytes);
  return s;
}

/// Waits for the lower ranks only: later ranks do not hold up earlier ones.
template <bool inclusive>
Status prefix(const FlatCall& call) noexcept {
  Channel& channel = call.channel;
  const Operation& op = call.op;
  const Rank me = channel.rank();
  publish(call, op.input, op.own_bytes);
  Status s = Status::ok;
  for (Rank r = 0; r < me && s == Status::ok; ++r) s = channel.arrived(r);
  const Rank upto = inclusive ? me + 1 : me;
  if (s == Status::ok && upto > 0) fold(call, upto, op.input, 0, op.own_bytes);
  return s;
}

/// Every peer's block, to its place in the output.
inline Status take_blocks(const FlatCall& call) noexcept {
  const Operation& op = call.op;
  return from_each(call.channel, [&](Rank peer) {
    const auto block = static_cast<std::size_t>(peer);
    move(at(op.output, op.output_blocks.offset_of(block)), place_of(call, peer),
         op.output_blocks.size_of(block));
  });
}

Status gather(const FlatCall& call) noexcept {
  const Operation& op = call.op;
  if (call.channel.rank() != op.root) {
    publish(call, op.input, op.own_bytes);
    return Status::ok;
  }
  call.channel.announce();
  const auto own = static_cast<std::size_t>(op.root);
  if (!op.in_place) move(at(op.output, op.output_blocks.offset_of(own)), op.input, op.own_bytes);
  return take_blocks(call);
}

Status allgather(const FlatCall& call) noexcept {
  const Operation& op = call.op;
  const auto me = static_cast<std::size_t>(call.channel.rank());
  std::byte* own = at(op.output, op.output_blocks.offset_of(me));
  publish(call, op.in_place ? own : op.input, op.own_bytes);
  if (!op.in_place) move(own, op.input, op.own_bytes);
  return take_blocks(call);
}

/// Regular blocks of `size` bytes; the root publishes all of them in one piece.
Status scatter(const FlatCall& call) noexcept {
  Channel& channel = call.channel;
  const Operation& op = call.op;
  const std::size_t block = op.agreed_bytes;
  const std::size_t all = block * static_cast<std::size_t>(channel.ranks());
  const auto own = static_cast<std::ptrdiff_t>(block * static_cast<std::size_t>(channel.rank()));
  if (channel.rank() == op.root) {
    publish(call, op.input, all);
    if (!op.in_place) move(op.output, at(op.input, own), block);
    return Status::ok;
  }
  channel.announce();
  const Status s = channel.arrived(op.root);
  if (s == Status::ok) move(op.output, place_of(call, op.root) + own, block);
  return s;
}

Status alltoall(const FlatCall& call) noexcept {
  Channel& channel = call.channel;
  const Operation& op = call.op;
  const std::size_t block = op.agreed_bytes;
  const std::size_t all = block * static_cast<std::size_t>(channel.ranks());
  const auto own = static_cast<std::ptrdiff_t>(block * static_cast<std::size_t>(channel.rank()));
  publish(call, op.input, all);
  if (!op.in_place) move(at(op.output, own), at(op.input, own), block);
  return from_each(channel, [&](Rank peer) {
    move(at(op.output, static_cast<std::ptrdiff_t>(block * static_cast<std::size_t>(peer))),
         place_of(call, peer) + own, block);
  });
}

/// A plan as the channel's next instance.
template <FlatPlan plan>
Status instance(const FlatCall& call) noexcept {
  if (const Status s = begin(call); s != Status::ok) return s;
  const Status s = plan(call);
  finish(call);
  return s;
}

struct Compiled {
  ir::Collective collective;
  std::string_view row;  ///< of the catalog: the specification
  FlatPlan plan;
};

constexpr Compiled plans[] = {
    {ir::Collective::barrier, "flat", instance<barrier>},
    {ir::Collective::bcast, "flat", instance<bcast>},
    {ir::Collective::reduce, "flat", instance<reduce>},
    {ir::Collective::allreduce, "flat", instance<allreduce>},
    {ir::Collective::gather, "flat", instance<gather>},
    {ir::Collective::scatter, "flat", instance<scatter>},
    {ir::Collective::allgather, "flat", instance<allgather>},
    {ir::Collective::alltoall, "direct", instance<alltoall>},
    {ir::Collective::reduce_scatter, "flat", instance<reduce_scatter>},
    {ir::Collective::scan, "flat", instance<prefix<true>>},
    {ir::Collective::exscan, "flat", instance<prefix<false>>},
};

}  // namespace

FlatPlan find_flat(ir::Collective collective, std::string_view row) noexcept {
  for (const Compiled& c : plans)
    if (c.collective == collective && c.row == row) return c.plan;
  return nullptr;
}

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
