#include "engine/compiled/flat.hpp"

#include "engine/compiled/move.hpp"
#include "engine/compiled/peers.hpp"

namespace hocket::engine::compiled {
namespace {

using transports::shm::Channel;
using transports::shm::inline_bytes;

template <class Via>
inline bool beside(const FlatCallOn<Via>& call) noexcept {
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
template <class Via>
inline std::byte* own_place(const FlatCallOn<Via>& call) noexcept {
  return beside(call) ? call.channel.own_payload() : call.channel.own_line().payload.data();
}
template <class Via>
inline const std::byte* place_of(const FlatCallOn<Via>& call, Rank peer) noexcept {
  return beside(call) ? call.channel.payload_of(peer) : call.channel.line_of(peer).payload.data();
}

template <class Via>
inline void announce(const FlatCallOn<Via>& call, const void* data, std::size_t bytes) noexcept {
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
template <class Via, class Take>
inline Status from_each(Via& channel, Take take) noexcept {
  const Status s = each_peer(channel, [&](Rank peer) {
    const Status arrived = channel.arrived(peer);
    if (arrived == Status::ok) take(peer);
    return arrived;
  });
  if (s != Status::ok) return s;
  channel.everyone_arrived();
  return Status::ok;
}

template <class Via>
inline bool is_root(const FlatCallOn<Via>& call) noexcept {
  return call.channel.rank() == call.op.root;
}

/// Folds ranks [0, upto) in rank order; the own operand comes from the user's buffer at `own`.
template <class Via>
inline void fold(const FlatCallOn<Via>& call, Rank upto, const void* own, std::size_t offset,
                 std::size_t bytes) noexcept {
  const void** sources = call.sources;
  const Operation& op = call.op;
  for (Rank r = 0; r < upto; ++r) sources[r] = place_of(call, r) + offset;
  if (call.channel.rank() < upto) sources[call.channel.rank()] = own;
  op.reduction(op.output, sources, upto, bytes / op.reduction.element_bytes);
}

/// Every peer's block, to its place in the output.
template <class Via>
inline Status take_blocks(const FlatCallOn<Via>& call) noexcept {
  const Operation& op = call.op;
  return from_each(call.channel, [&](Rank peer) {
    const auto block = static_cast<std::size_t>(peer);
    move(at(op.output, op.output_blocks.offset_of(block)), place_of(call, peer),
         op.output_blocks.size_of(block));
  });
}

/// Of this rank's block in what is published in one piece.
template <class Via>
inline std::ptrdiff_t own_offset(const FlatCallOn<Via>& call) noexcept {
  return static_cast<std::ptrdiff_t>(call.op.agreed_bytes * static_cast<std::size_t>(call.channel.rank()));
}

// One struct per plan: what a rank publishes, and what it takes.

struct Barrier {
  static void publish(const auto& call) noexcept { call.channel.announce(); }
  static Status take(const auto& call) noexcept {
    return from_each(call.channel, [](Rank) {});
  }
};

struct Bcast {
  static void publish(const auto& call) noexcept {
    if (is_root(call))
      announce(call, call.op.input, call.op.own_bytes);
    else
      call.channel.announce();
  }
  static Status take(const auto& call) noexcept {
    if (is_root(call)) return Status::ok;
    const Status s = call.channel.arrived(call.op.root);
    if (s == Status::ok) move(call.op.output, place_of(call, call.op.root), call.op.own_bytes);
    return s;
  }
};

struct Allreduce {
  static void publish(const auto& call) noexcept { announce(call, call.op.input, call.op.own_bytes); }
  static Status take(const auto& call) noexcept {
    const Status s = from_each(call.channel, [](Rank) {});
    if (s == Status::ok) fold(call, call.channel.ranks(), call.op.input, 0, call.op.own_bytes);
    return s;
  }
};

struct Reduce {
  static void publish(const auto& call) noexcept {
    if (is_root(call))
      call.channel.announce();
    else
      announce(call, call.op.input, call.op.own_bytes);
  }
  static Status take(const auto& call) noexcept { return is_root(call) ? Allreduce::take(call) : Status::ok; }
};

struct ReduceScatter {
  static void publish(const auto& call) noexcept {
    const Operation& op = call.op;
    const auto last = static_cast<std::size_t>(call.channel.ranks() - 1);
    const std::size_t all =
        static_cast<std::size_t>(op.input_blocks.offset_of(last)) + op.input_blocks.size_of(last);
    announce(call, op.input, all);
  }
  static Status take(const auto& call) noexcept {
    const Operation& op = call.op;
    const Rank me = call.channel.rank();
    const auto offset = static_cast<std::size_t>(op.input_blocks.offset_of(static_cast<std::size_t>(me)));
    const Status s = from_each(call.channel, [](Rank) {});
    // In place, the result may overlap a part of the own operand: take the published copy.
    const void* own =
        op.in_place ? place_of(call, me) + offset : at(op.input, static_cast<std::ptrdiff_t>(offset));
    if (s == Status::ok) fold(call, call.channel.ranks(), own, offset, op.own_bytes);
    return s;
  }
};

/// Waits for the lower ranks only: later ranks do not hold up earlier ones.
template <bool inclusive>
struct Prefix {
  static void publish(const auto& call) noexcept { announce(call, call.op.input, call.op.own_bytes); }
  static Status take(const auto& call) noexcept {
    const Rank me = call.channel.rank();
    Status s = Status::ok;
    for (Rank r = 0; r < me && s == Status::ok; ++r) s = call.channel.arrived(r);
    const Rank upto = inclusive ? me + 1 : me;
    if (s == Status::ok && upto > 0) fold(call, upto, call.op.input, 0, call.op.own_bytes);
    return s;
  }
};

struct Gather {
  static void publish(const auto& call) noexcept {
    const Operation& op = call.op;
    if (!is_root(call)) return announce(call, op.input, op.own_bytes);
    call.channel.announce();
    const auto own = static_cast<std::size_t>(op.root);
    if (!op.in_place) move(at(op.output, op.output_blocks.offset_of(own)), op.input, op.own_bytes);
  }
  static Status take(const auto& call) noexcept { return is_root(call) ? take_blocks(call) : Status::ok; }
};

struct Allgather {
  static void publish(const auto& call) noexcept {
    const Operation& op = call.op;
    const auto me = static_cast<std::size_t>(call.channel.rank());
    std::byte* own = at(op.output, op.output_blocks.offset_of(me));
    announce(call, op.in_place ? own : op.input, op.own_bytes);
    if (!op.in_place) move(own, op.input, op.own_bytes);
  }
  static Status take(const auto& call) noexcept { return take_blocks(call); }
};

/// Regular blocks of `size` bytes; the root publishes all of them in one piece.
struct Scatter {
  static void publish(const auto& call) noexcept {
    if (!is_root(call)) return call.channel.announce();
    const Operation& op = call.op;
    announce(call, op.input, op.agreed_bytes * static_cast<std::size_t>(call.channel.ranks()));
    if (!op.in_place) move(op.output, at(op.input, own_offset(call)), op.agreed_bytes);
  }
  static Status take(const auto& call) noexcept {
    if (is_root(call)) return Status::ok;
    const Operation& op = call.op;
    const Status s = call.channel.arrived(op.root);
    if (s == Status::ok) move(op.output, place_of(call, op.root) + own_offset(call), op.agreed_bytes);
    return s;
  }
};

struct Alltoall {
  static void publish(const auto& call) noexcept {
    const Operation& op = call.op;
    const std::ptrdiff_t own = own_offset(call);
    announce(call, op.input, op.agreed_bytes * static_cast<std::size_t>(call.channel.ranks()));
    if (!op.in_place) move(at(op.output, own), at(op.input, own), op.agreed_bytes);
  }
  static Status take(const auto& call) noexcept {
    const std::size_t block = call.op.agreed_bytes;
    const std::ptrdiff_t own = own_offset(call);
    return from_each(call.channel, [&](Rank peer) {
      move(at(call.op.output, static_cast<std::ptrdiff_t>(block * static_cast<std::size_t>(peer))),
           place_of(call, peer) + own, block);
    });
  }
};

/// A plan as the channel's next instance.
template <class Plan>
Status run(const FlatCall& call) noexcept {
  if (const Status s = begin(call); s != Status::ok) return s;
  Plan::publish(call);
  const Status s = Plan::take(call);
  finish(call);
  return s;
}

template <class Plan>
constexpr FlatPlan both_forms = {
    run<Plan>, [](const StartedFlatCall& call) noexcept { Plan::publish(call); },
    [](const StartedFlatCall& call) noexcept -> Status { return Plan::take(call); }};

struct Compiled {
  ir::Collective collective;
  std::string_view row;  ///< of the catalog: the specification
  const FlatPlan& plan;
};

constexpr Compiled plans[] = {
    {ir::Collective::barrier, "flat", both_forms<Barrier>},
    {ir::Collective::bcast, "flat", both_forms<Bcast>},
    {ir::Collective::reduce, "flat", both_forms<Reduce>},
    {ir::Collective::allreduce, "flat", both_forms<Allreduce>},
    {ir::Collective::gather, "flat", both_forms<Gather>},
    {ir::Collective::scatter, "flat", both_forms<Scatter>},
    {ir::Collective::allgather, "flat", both_forms<Allgather>},
    {ir::Collective::alltoall, "direct", both_forms<Alltoall>},
    {ir::Collective::reduce_scatter, "flat", both_forms<ReduceScatter>},
    {ir::Collective::scan, "flat", both_forms<Prefix<true>>},
    {ir::Collective::exscan, "flat", both_forms<Prefix<false>>},
};

}  // namespace

const FlatPlan* find_flat(ir::Collective collective, std::string_view row) noexcept {
  for (const Compiled& c : plans)
    if (c.collective == collective && c.row == row) return &c.plan;
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
