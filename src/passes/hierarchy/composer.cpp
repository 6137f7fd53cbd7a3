#include "passes/hierarchy/composer.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "passes/embed.hpp"

namespace hocket::passes {

using ir::Buffer;
using ir::Collective;
using ir::Region;
using ir::Request;
using ir::Schedule;

Composer::Composer(const Request& request, const Groups& groups, const Parts& parts, std::uint32_t turn)
    : request_(request), groups_(groups), parts_(parts), turn_(turn), builder_(whole_) {
  while (reach_ < top() && leader(reach_) == rank()) ++reach_;
  whole_.collective = request.collective;
  whole_.ranks = request.ranks;
  whole_.rank = request.rank;
  whole_.root = request.root;
  whole_.chunks = chunks_of_whole();
}

/// Into so many that the part on top and the folds inside find theirs among them.
std::uint32_t Composer::chunks_of_whole() const {
  if (request_.collective == Collective::barrier) return 0;
  if (!ir::is_vector(request_.collective)) return static_cast<std::uint32_t>(request_.ranks);
  const std::vector<Rank> leaders = members(top());
  std::uint32_t chunks =
      parts_.on_top(request_of(request_.collective, leaders, leaders.front(), root())).chunks;
  for (std::size_t level = 0; ir::is_reduction(request_.collective) && level < top(); ++level) {
    const std::vector<Rank> group = members(level);
    const Request fold = request_of(Collective::reduce, group, group.front(), group.front());
    chunks = std::lcm(chunks, parts_.inside(fold, level).chunks);
  }
  return chunks;
}

Schedule Composer::finish() {
  builder_.finish();
  return std::move(whole_);
}

std::vector<Rank> Composer::spoken_for_by(std::size_t level, Rank member) const {
  if (level == 0) return {member};
  const auto group = groups_.all_of(level - 1, member);
  return {group.begin(), group.end()};
}

void Composer::keep_planes(std::uint32_t planes) {
  own_planes_ = whole_.scratch_planes = planes;
}

Region Composer::kept(std::uint32_t plane, std::uint32_t first, std::uint32_t count) const {
  return ir::scratch(plane * whole_.chunks + first, count);
}

Region Composer::scratch(std::uint32_t plane, std::uint32_t first, std::uint32_t count) const {
  return kept(own_planes_ + plane, first, count);
}

Request Composer::request_of(Collective collective, const std::vector<Rank>& members, Rank who,
                             Rank led_by) const {
  const auto index_of = [&](Rank other) {
    return static_cast<Rank>(std::lower_bound(members.begin(), members.end(), other) - members.begin());
  };
  Request part = request_;
  part.collective = collective;
  part.ranks = static_cast<Rank>(members.size());
  part.rank = index_of(who);
  part.root = led_by == no_root ? 0 : index_of(led_by);
  return part;
}

Schedule Composer::part(Collective collective, std::size_t level) const {
  const Rank led_by = level == top() ? root() : leader(level);
  const Request request = request_of(collective, members(level), rank(), led_by);
  return level == top() ? parts_.on_top(request) : parts_.inside(request, level);
}

void Composer::add(const Schedule& part, std::size_t level, const Append& append,
                   std::uint32_t scratch_planes) {
  whole_.scratch_planes = std::max(whole_.scratch_planes, own_planes_ + scratch_planes);
  const std::vector<Rank> among = members(level);
  embed(part, {among, append}, builder_);
  builder_.round();
}

void Composer::add(Collective collective, std::size_t level, const Append& append,
                   std::uint32_t planes_for_each) {
  const Schedule flat = part(collective, level);
  if (flat.scratch_planes > 0 && flat.chunks > 1 && planes_for_each == 0)
    throw Error("a part keeps blocks of others, whose sizes only it knows");
  add(flat, level, append, flat.scratch_planes * std::max(planes_for_each, 1U));
}

void Composer::add_of_vectors(Collective collective, std::size_t level, const Place& place) {
  const Schedule flat = part(collective, level);
  if (flat.chunks == 0 || whole_.chunks % flat.chunks != 0)
    throw Error("a part cuts the vector in another way than the whole");
  const std::uint32_t each = whole_.chunks / flat.chunks;
  add(
      flat, level,
      [&](Buffer buffer, std::uint32_t index, Regions& regions) {
        const std::uint32_t first = index % flat.chunks * each;
        regions.push_back(buffer == Buffer::scratch ? scratch(index / flat.chunks, first, each)
                                                    : place(buffer, first));
        regions.back().count = each;
      },
      flat.scratch_planes);
}

void Composer::add_of_blocks(Collective collective, std::size_t level, const Place& place) {
  const Schedule flat = part(collective, level);
  const std::vector<Rank> among = members(level);
  add(
      flat, level,
      [&](Buffer buffer, std::uint32_t index, Regions& regions) {
        const Rank member = among[index % flat.chunks];
        for (const Rank owner : spoken_for_by(level, member)) {
          const auto chunk = static_cast<std::uint32_t>(owner);
          regions.push_back(buffer == Buffer::scratch ? scratch(index / flat.chunks, chunk, 1)
                                                      : place(buffer, chunk));
        }
      },
      flat.scratch_planes);
}

}  // namespace hocket::passes
