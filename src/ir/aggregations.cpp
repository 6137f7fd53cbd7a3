#include "ir/aggregations.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "ir/text.hpp"

namespace hocket::ir {

namespace {

using Members = std::vector<Rank>;
using Started = std::vector<std::uint32_t>;  // a member's ops, in order
using Groups = std::map<Members, std::vector<Started>>;

Started& started_by(Groups& groups, const Members& members, Rank rank) {
  const auto own = std::ranges::find(members, rank);
  if (own == members.end()) throw Error("rank " + std::to_string(rank) + ": it is not in its group");
  auto& started = groups[members];
  started.resize(members.size());
  return started[static_cast<std::size_t>(own - members.begin())];
}

void collect(Groups& groups, const Schedule& s) {
  std::vector<Started*> own;
  for (const Members& members : s.groups) own.push_back(&started_by(groups, members, s.rank));
  for (std::uint32_t i = 0; i < s.ops.size(); ++i)
    if (s.ops[i].code == OpCode::aggregate) own.at(s.ops[i].group)->push_back(i);
}

void append(std::vector<std::vector<Place>>& found, std::span<const Schedule> schedules,
            const Members& members, const std::vector<Started>& started) {
  const Started& most = *std::ranges::max_element(started, {}, &Started::size);
  const Rank busiest = members[static_cast<std::size_t>(&most - started.data())];
  for (std::size_t n = 0; n < most.size(); ++n) {
    auto& places = found.emplace_back();
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (started[i].size() <= n)
        throw Error(place_name(schedules[static_cast<std::size_t>(busiest)], most[n]) + ": rank " +
                    std::to_string(members[i]) + " never starts this aggregation");
      places.push_back({members[i], started[i][n]});
    }
  }
}

}  // namespace

std::vector<std::vector<Place>> match_aggregations(std::span<const Schedule> schedules) {
  Groups groups;
  for (const Schedule& s : schedules) collect(groups, s);
  std::vector<std::vector<Place>> found;
  for (const auto& [members, started] : groups) append(found, schedules, members, started);
  return found;
}

}  // namespace hocket::ir
