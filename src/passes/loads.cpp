#include "passes/loads.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace hocket::passes {

std::vector<Link> way(const Neighbourhood* near, Rank from, Rank to) {
  const auto group = [near](std::size_t row, Rank rank) {
    return near ? near->group(row, rank) : static_cast<std::uint32_t>(rank);
  };
  const std::size_t distance = near ? near->distance(from, to) : 1;
  if (distance == 0) return {{0, group(0, from), true}};
  std::vector<Link> links;
  for (std::size_t boundary = 1; boundary <= distance; ++boundary) {
    links.push_back({boundary, group(boundary - 1, from), true});
    links.push_back({boundary, group(boundary - 1, to), false});
  }
  return links;
}

std::uint32_t chunks_in(const ir::Schedule& schedule, const ir::Op& op) {
  std::uint32_t chunks = 0;
  for (const ir::Region& region : schedule.regions_of(op)) chunks += region.count;
  return chunks;
}

std::map<Link, std::uint64_t> loads(std::span<const ir::Schedule> schedules, const Neighbourhood* near) {
  std::map<Link, std::uint64_t> found;
  for (const ir::Schedule& schedule : schedules)
    for (const ir::Op& op : schedule.ops)
      if (op.code == ir::OpCode::aggregate)
        throw Error("what aggregations put on links is not counted yet");
      else if (op.code == ir::OpCode::send)
        for (const Link& link : way(near, schedule.rank, op.peer)) found[link] += chunks_in(schedule, op);
  return found;
}

double busiest(std::span<const ir::Schedule> schedules, const Neighbourhood* near, std::size_t boundary) {
  std::uint64_t most = 0;
  for (const auto& [link, chunks] : loads(schedules, near))
    if (link.boundary == boundary) most = std::max(most, chunks);
  const ir::Schedule& any = schedules.front();
  return static_cast<double>(most) / (ir::is_vector(any.collective) ? any.chunks : 1);
}

}  // namespace hocket::passes
