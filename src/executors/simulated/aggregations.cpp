#include "executors/simulated/aggregations.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "executors/simulated/symmetry.hpp"

namespace hocket::executors::simulated {

using Kind = Step::Kind;

namespace {

/// Where a class stands for many ranks, those are under other switches, too, up to the one above all.
std::size_t lowest_top(const Classes& classes, const Network& network) {
  std::size_t level = 0;
  if (classes.period < classes.ranks)
    while (!is_one_group(network.levels[level], classes.ranks)) ++level;
  return level;
}

}  // namespace

Aggregations::Aggregations(const Classes& classes, const Network& network)
    : network_(network),
      first_switch_(network.first_switch_level()),
      lowest_top_(lowest_top(classes, network)) {
  for (Rank c = 0; c < classes.period; ++c) count(c, classes.trace(c));
  if (groups_.empty()) return;
  if (!network.switches) throw Error("it needs switches that reduce, and this machine has none");
  if (network.levels[first_switch_].shared_memory)
    throw Error("it needs switches that reduce, and this machine is one node");
  each_switch_ = *network.switches;
  for (auto& [least, group] : groups_) check(group);
  for (auto& [least, group] : groups_) group.operations.resize(group.members.begin()->second.up.size());
  group_of_ = groups_of_classes(network, classes.ranks, classes.period);
  links_.assign(network.levels.size(), std::vector<Free>(static_cast<std::size_t>(classes.period)));
  switches_ = links_;
}

void Aggregations::count(Rank c, const Trace& trace) {
  std::uint32_t begin = 0;
  for (const Round& round : trace.rounds) {
    for (std::uint32_t repeat = 0; repeat < round.repeats; ++repeat)
      for (std::uint32_t i = begin; i < round.end; ++i) {
        const Step& step = trace.steps[i];
        if (step.kind == Kind::aggregate) groups_[step.distance].members[c].up.push_back(step.amount);
        if (step.kind == Kind::settle) groups_[step.distance].members[c].down.push_back(step.amount);
      }
    begin = round.end;
  }
}

void Aggregations::check(const Group& group) const {
  for (const auto& [c, member] : group.members)
    if (member.up.size() != member.down.size() || member.up.size() != group.members.begin()->second.up.size())
      throw Error("rank " + std::to_string(c) + " does not start and settle what others of its group do");
}

void Aggregations::give(Rank c, Rank group_name, double now, std::deque<Rank>& ready) {
  Group& group = groups_.at(group_name);
  Member& member = group.members.at(c);
  const std::uint64_t bytes = member.up[member.given];
  Operation& operation = group.operations[member.given];
  operation.wanted[c] = member.down[member.given++];
  operation.streams[c] = {now, now + network_.levels[first_switch_].at(bytes).stretch(bytes), bytes};
  if (operation.streams.size() < group.members.size()) return;
  pass(operation);
  ready.insert(ready.end(), operation.waiting.begin(), operation.waiting.end());
}

std::optional<Message> Aggregations::take(Rank c, Rank group_name) {
  Group& group = groups_.at(group_name);
  Member& member = group.members.at(c);
  Operation& operation = group.operations[member.taken];
  if (!operation.is_over) {
    operation.waiting.push_back(c);
    return std::nullopt;
  }
  const std::uint64_t bytes = member.down[member.taken++];
  const Stream& stream = operation.streams.at(c);
  return Message{stream.first_byte, stream.last_byte, bytes, &network_.levels[first_switch_].at(bytes)};
}

void Aggregations::pass(Operation& operation) {
  std::size_t top = first_switch_;
  const Stream result = climb(operation.streams, top);
  descend(result, top, operation);
  operation.is_over = true;
}

/// Links serve what comes first.
std::vector<std::pair<double, Rank>> Aggregations::in_time(const Streams& streams) {
  std::vector<std::pair<double, Rank>> order;
  for (const auto& [c, stream] : streams) order.emplace_back(stream.first_byte, c);
  std::ranges::sort(order);
  return order;
}

/// `level`: of the switch that sees all of them, when it is done.
Aggregations::Stream Aggregations::climb(const Streams& given, std::size_t& level) {
  Streams below = given;
  for (std::size_t i = 0; i < first_switch_; ++i)
    for (const auto& [at, c] : in_time(below)) over_link(i, group_at(i, c), &Free::out, below[c]);
  for (auto& [c, stream] : below) hop(first_switch_, stream);
  for (level = first_switch_;; ++level) {
    below = merged(below, level);
    if (below.size() == 1 && level >= lowest_top_) return below.begin()->second;
    for (auto& [group, stream] : below) {
      over_link(level, group, &Free::out, stream);
      hop(level + 1, stream);
    }
  }
}

/// What leaves the switches of a level, by a class of each.
Aggregations::Streams Aggregations::merged(const Streams& below, std::size_t level) {
  Streams above;
  for (const auto& [c, stream] : below) {
    Stream& sum = above[group_at(level, c)];
    sum.first_byte = std::max(sum.first_byte, stream.first_byte);
    sum.last_byte = std::max(sum.last_byte, stream.last_byte);
    sum.bytes = std::max(sum.bytes, stream.bytes);
  }
  for (auto& [group, sum] : above) through_switch(level, group, &Free::out, sum);
  return above;
}

/// Who does not want it hears that it has ended.
void Aggregations::descend(const Stream& result, std::size_t level, Operation& operation) {
  Streams above{{group_at(level, operation.streams.begin()->first), result}};
  while (level > first_switch_) {
    Streams below;
    for (const auto& [group, bytes] : wanted_in(level - 1, operation)) {
      Stream& stream = below[group] = part_of(above.at(group_at(level, group)), bytes);
      hop(level, stream);
      over_link(level - 1, group, &Free::in, stream);
      through_switch(level - 1, group, &Free::in, stream);
    }
    above = std::move(below);
    --level;
  }
  for (auto& [c, stream] : operation.streams) {
    stream = part_of(above.at(group_at(first_switch_, c)), operation.wanted.at(c));
    hop(first_switch_, stream);
    for (std::size_t i = first_switch_; i-- > 0;) over_link(i, group_at(i, c), &Free::in, stream);
  }
}

/// By anybody in the groups of a level.
Aggregations::Bytes Aggregations::wanted_in(std::size_t level, const Operation& operation) const {
  Bytes wanted;
  for (const auto& [c, bytes] : operation.wanted) {
    std::uint64_t& most = wanted[group_at(level, c)];
    most = std::max(most, bytes);
  }
  return wanted;
}

Aggregations::Stream Aggregations::part_of(Stream whole, std::uint64_t bytes) {
  whole.bytes = bytes;
  if (bytes == 0) whole.last_byte = whole.first_byte;
  return whole;
}

/// As Links::pass(); but links serve aggregations in the order in which their last members give.
void Aggregations::over_link(std::size_t level, Rank group, double Free::* way, Stream& stream) {
  const auto& link = network_.levels[level].link;
  if (!link) return;
  double& busy_until = links_[level][static_cast<std::size_t>(group)].*way;
  const double begin = std::max(stream.first_byte, busy_until);
  const double service = static_cast<double>(stream.bytes) * link->G;
  busy_until = begin + link->g + service;
  stream.first_byte = begin;
  stream.last_byte = std::max(stream.last_byte, begin + service);
}

void Aggregations::through_switch(std::size_t level, Rank group, double Free::* way, Stream& stream) {
  double& busy_until = switches_[level][static_cast<std::size_t>(group)].*way;
  const double begin = std::max(stream.first_byte, busy_until);
  const double service = static_cast<double>(stream.bytes) * each_switch_.G;
  busy_until = begin + service;
  stream.first_byte = begin + each_switch_.latency;
  stream.last_byte = std::max(stream.last_byte, begin + service) + each_switch_.latency;
}

/// Half the way between two that are as near as the level says, less what is nearer than its switch.
void Aggregations::hop(std::size_t level, Stream& stream) const {
  const auto latency = [&](std::size_t i) { return network_.levels[i].at(stream.bytes).L; };
  const double whole = latency(level) - (level > first_switch_ ? latency(level - 1) : 0);
  stream.first_byte += std::max(whole, 0.0) / 2;
  stream.last_byte += std::max(whole, 0.0) / 2;
}

}  // namespace hocket::executors::simulated
