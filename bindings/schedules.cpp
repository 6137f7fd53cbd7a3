// Schedules as text and dicts, their proof and their counts.
#include "base/error.hpp"
#include "ir/count.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "values.hpp"

namespace hocket::bindings {

namespace {

ir::Schedule built(const Named& n, int rank) {
  if (rank < 0 || rank >= n.request.ranks) throw Error("no such rank");
  return algorithms::build(n.algorithm, n.request.seen_by(rank));
}

nb::dict region_to_dict(const ir::Region& region) {
  constexpr const char* names[] = {"input", "output", "staging", "scratch"};
  nb::dict d;
  d["buffer"] = names[static_cast<int>(region.buffer)];
  d["first"] = region.first;
  d["count"] = region.count;
  if (region.owner != ir::self) d["owner"] = region.owner;
  return d;
}

bool has_target(ir::OpCode code) {
  return code == ir::OpCode::copy || code == ir::OpCode::read || code == ir::OpCode::reduce ||
         code == ir::OpCode::expose || code == ir::OpCode::aggregate;
}

nb::dict op_to_dict(const ir::Schedule& schedule, const ir::Op& op) {
  constexpr const char* names[] = {"send",   "recv",   "copy", "read",      "reduce",
                                   "expose", "signal", "wait", "aggregate", "settle"};
  nb::dict d;
  d["op"] = names[static_cast<int>(op.code)];
  if (op.peer == ir::everyone)
    d["peer"] = "everyone";
  else if (op.peer != ir::self)
    d["peer"] = op.peer;
  if (op.step) d["step"] = op.step;
  if (op.held) d["after"] = op.held;
  if (op.code == ir::OpCode::aggregate || op.code == ir::OpCode::settle) d["group"] = op.group;
  if (has_target(op.code) && op.target != ir::unwanted) d["target"] = region_to_dict(op.target);
  nb::list regions;
  for (const auto& region : schedule.regions_of(op)) regions.append(region_to_dict(region));
  if (op.regions) d["regions"] = regions;
  return d;
}

nb::list rounds_to_list(const ir::Schedule& schedule) {
  nb::list rounds;
  std::uint32_t first = 0;
  for (const auto last : schedule.rounds) {
    nb::list ops;
    for (; first < last; ++first) ops.append(op_to_dict(schedule, schedule.ops[first]));
    rounds.append(ops);
  }
  return rounds;
}

nb::list groups_to_list(const ir::Schedule& schedule) {
  nb::list groups;
  for (const auto& members : schedule.groups) {
    nb::list group;
    for (const ir::Rank member : members) group.append(member);
    groups.append(group);
  }
  return groups;
}

nb::dict schedule_to_dict(const ir::Schedule& schedule) {
  nb::dict d;
  d["collective"] = ir::name_of(schedule.collective);
  d["ranks"] = schedule.ranks;
  d["rank"] = schedule.rank;
  d["root"] = schedule.root;
  d["chunks"] = schedule.chunks;
  nb::dict staging;
  staging["first"] = schedule.staging.first;
  staging["count"] = schedule.staging.count;
  staging["planes"] = schedule.staging.planes;
  d["staging"] = staging;
  d["scratch_planes"] = schedule.scratch_planes;
  d["groups"] = groups_to_list(schedule);
  d["rounds"] = rounds_to_list(schedule);
  return d;
}

nb::dict counters_to_dict(const ir::Schedule& schedule) {
  const auto counters = ir::count(schedule);
  nb::dict d;
  d["data_chunks"] = schedule.chunks;
  d["rounds"] = counters.rounds;
  d["messages"] = counters.messages;
  d["sent"] = counters.sent;
  d["received"] = counters.received;
  d["copied"] = counters.copied;
  d["reduced"] = counters.reduced;
  d["signals"] = counters.signals;
  d["waits"] = counters.waits;
  return d;
}

ir::Sizes sizes_of(algorithms::Blocks blocks) {
  if (blocks == algorithms::Blocks::any) return ir::Sizes::own;
  return blocks == algorithms::Blocks::known ? ir::Sizes::known : ir::Sizes::equal;
}

/// Under the weakest conditions that the row claims to be right for. Empty: proved.
std::string verdict(const Named& n, bool in_place) {
  const ir::Expectation expectation{
      .in_place = in_place,
      .ranked = n.algorithm.order == algorithms::Order::ranked && !n.request.commutative,
      .sizes = sizes_of(n.algorithm.blocks)};
  const auto result =
      ir::verify(n.request.ranks, [&n](ir::Rank rank) { return built(n, rank); }, expectation);
  return result.ok ? std::string() : result.what;
}

}  // namespace

void bind_schedules(nb::module_& m) {
  using Text = const std::string&;
  m.def(
      "schedule_text",
      [](Text collective, Text algorithm, int ranks, int root, const nb::dict& parameters, bool commutative,
         int rank) {
        return ir::to_text(built(named(collective, algorithm, ranks, root, parameters, commutative), rank));
      },
      "One rank's schedule for people.");
  m.def(
      "schedule",
      [](Text collective, Text algorithm, int ranks, int root, const nb::dict& parameters, bool commutative,
         int rank) {
        return schedule_to_dict(
            built(named(collective, algorithm, ranks, root, parameters, commutative), rank));
      },
      "One rank's schedule as a dict.");
  m.def(
      "count",
      [](Text collective, Text algorithm, int ranks, int root, const nb::dict& parameters, bool commutative,
         int rank) {
        return counters_to_dict(
            built(named(collective, algorithm, ranks, root, parameters, commutative), rank));
      },
      "What one rank's schedule costs, in chunks.");
  m.def(
      "verify",
      [](Text collective, Text algorithm, int ranks, int root, const nb::dict& parameters, bool commutative,
         bool in_place) {
        return verdict(named(collective, algorithm, ranks, root, parameters, commutative), in_place);
      },
      "Symbolic execution of all ranks: what is wrong, or an empty text.");
}

}  // namespace hocket::bindings
