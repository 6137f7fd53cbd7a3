#include "passes/reorder.hpp"

#include "passes/embed.hpp"

namespace hocket::passes {
namespace {

/// A vector's chunks stay what they are; a block is that of the rank in its place.
std::uint32_t renumbered_chunk(const ir::Schedule& part, std::span<const Rank> order, std::uint32_t index) {
  if (!ir::is_blocks(part.collective)) return index;
  const std::uint32_t place = index % part.chunks;
  return index - place + static_cast<std::uint32_t>(order[place]);
}

}  // namespace

bool can_be_reordered(ir::Collective collective) {
  return collective != ir::Collective::scan && collective != ir::Collective::exscan;
}

ir::Schedule reorder(const ir::Request& request, const Order& order,
                     const std::function<ir::Schedule(const ir::Request&)>& build) {
  ir::Request in_order = request.seen_by(order.places[static_cast<std::size_t>(request.rank)]);
  in_order.root = order.places[static_cast<std::size_t>(request.root)];
  const ir::Schedule part = build(in_order);
  ir::Schedule whole;
  whole.collective = request.collective;
  whole.ranks = request.ranks;
  whole.rank = request.rank;
  whole.root = request.root;
  whole.chunks = part.chunks;
  whole.scratch_planes = part.scratch_planes;
  ir::Builder builder(whole);
  embed(part,
        {order.ranks,
         [&](ir::Buffer buffer, std::uint32_t index, std::vector<ir::Region>& regions) {
           regions.push_back({ir::self, buffer, renumbered_chunk(part, order.ranks, index), 1});
         }},
        builder);
  builder.finish();
  return whole;
}

}  // namespace hocket::passes
