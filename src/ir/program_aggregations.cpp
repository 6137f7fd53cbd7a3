// Aggregations are matched by their order, like messages: before running.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.hpp"
#include "ir/aggregations.hpp"
#include "ir/program.hpp"
#include "ir/text.hpp"

namespace hocket::ir {

namespace {

/// What a member contributes or, where it does not, gets: as large as all others'.
const Region* data_of(const Schedule& s, const Op& aggregate) {
  if (aggregate.regions > 0) return &s.regions_of(aggregate)[0];
  return aggregate.target.count > 0 ? &aggregate.target : nullptr;
}

bool does_both_or_neither(const Op& o) {
  return (o.regions > 0) == (o.target.count > 0);
}

}  // namespace

std::size_t Program::member(AggregationId id, Rank rank) const {
  return static_cast<std::size_t>(std::ranges::find(starts_[id], rank, &Place::rank) - starts_[id].begin());
}

void Program::check_groups(const Schedule& s) const {
  const auto require = [&](bool right, std::size_t group, const char* what) {
    if (!right)
      throw Error("rank " + std::to_string(s.rank) + ", group " + std::to_string(group) + ": " + what);
  };
  for (std::size_t i = 0; i < s.groups.size(); ++i) {
    std::vector<Rank> members = s.groups[i];
    std::ranges::sort(members);
    require(!members.empty() && members.front() >= 0 && members.back() < ranks(), i,
            "a member is not a rank");
    require(std::ranges::adjacent_find(members) == members.end(), i, "a rank is in it twice");
    require(std::ranges::binary_search(members, s.rank), i, "the rank itself is not in it");
  }
}

void Program::check_aggregate(Place p) const {
  const Op& o = op(p);
  const auto sources = of(p.rank).regions_of(o);
  if (o.group >= of(p.rank).groups.size()) fail(p, "there is no such group");
  const auto& members = of(p.rank).groups[o.group];
  if (o.peer != everyone && std::ranges::find(members, o.peer) == members.end())
    fail(p, "the root is not in the group");
  if (sources.size() > 1) fail(p, "has more than one source");
  if (o.target.count > 0 && o.target.buffer == Buffer::input) fail(p, "writes the input");
  for (const Region* r :
       {sources.empty() ? nullptr : &sources[0], o.target.count > 0 ? &o.target : nullptr}) {
    if (r == nullptr) continue;
    if (r->owner != self) fail(p, to_text(*r) + " is not the rank's own");
    if (r->count == 0) fail(p, to_text(*r) + " has no chunk");
    check_region(p, *r);
  }
  if (!sources.empty() && o.target.count > 0) check_sources(p);
  if (o.peer == everyone && !does_both_or_neither(o))
    fail(p, "everyone contributes and gets the result, or nobody does");
  if (o.peer == p.rank && sources.empty()) fail(p, "the root contributes nothing");
  if (o.peer != everyone && o.peer != p.rank && does_both_or_neither(o))
    fail(p, "with a root, the others either contribute or get the result");
}

void Program::match_aggregations() {
  starts_ = ir::match_aggregations(schedules_);
  for (AggregationId id = 0; id < starts_.size(); ++id) {
    check_members(id);
    for (const Place p : starts_[id]) number_of_op_[first_op_[p.rank] + p.op] = id;
  }
  for (Rank r = 0; r < ranks(); ++r) match_settles(r);
}

void Program::check_members(AggregationId id) const {
  const Place first = starts_[id].front();
  const Region* data = data_of(of(first.rank), op(first));
  for (const Place p : starts_[id]) {
    const auto differ = [&](const std::string& how) { fail(p, how + " than in " + name_of(first)); };
    if (op(p).peer != op(first).peer) differ("another root");
    if (kind_of(of(p.rank), op(p)) != kind_of(of(first.rank), op(first)))
      differ("another kind of aggregation");
    if (data == nullptr) continue;
    const Region& own = *data_of(of(p.rank), op(p));
    if (own.count != data->count) differ("another number of chunks");
    for (std::uint32_t i = 0; i < own.count; ++i)
      if (size_identity(p.rank, own, own.first + i) != size_identity(first.rank, *data, data->first + i))
        differ("chunk " + std::to_string(own.first + i) + " has another size");
  }
}

/// Once each, and not before it has been started.
void Program::match_settles(Rank rank) {
  struct Step {
    Place start;
    bool settled = false;
  };
  std::map<std::tuple<std::uint32_t, std::uint32_t>, Step> steps;
  for (Place p{rank, 0}; p.op < of(rank).ops.size(); ++p.op) {
    const Op& o = op(p);
    if (o.code == OpCode::aggregate && !steps.try_emplace({o.group, o.step}, Step{p}).second)
      fail(p, "the second of this step in its group");
    if (o.code != OpCode::settle) continue;
    const auto step = steps.find({o.group, o.step});
    if (step == steps.end()) fail(p, "what has this step has not been started");
    if (step->second.settled) fail(p, "has been settled before");
    step->second.settled = true;
    number_of_op_[first_op_[static_cast<std::size_t>(rank)] + p.op] = aggregation(step->second.start);
  }
  for (const auto& [name, step] : steps)
    if (!step.settled) fail(step.start, "is never settled");
}

}  // namespace hocket::ir
