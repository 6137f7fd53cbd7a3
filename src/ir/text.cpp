#include "ir/text.hpp"

#include <algorithm>

namespace hocket::ir {

namespace {

constexpr std::string_view buffer_names[] = {"input", "output", "staging", "scratch"};
constexpr std::string_view code_names[] = {"send",   "recv",   "copy", "read",      "reduce",
                                           "expose", "signal", "wait", "aggregate", "settle"};

std::string joined(std::span<const Region> regions, std::string_view separator) {
  std::string text;
  for (const Region& r : regions) {
    if (!text.empty()) text += separator;
    text += to_text(r);
  }
  return text;
}

std::string peer_name(Rank peer) {
  return peer == everyone ? "everyone" : std::to_string(peer);
}

std::string aggregation(const Schedule& schedule, const Op& op) {
  std::string text = op.peer == everyone ? " everyone" : " root " + std::to_string(op.peer);
  if (op.regions > 0 || op.target.count > 0) text += ":";
  if (op.target.count > 0) text += " " + to_text(op.target);
  if (op.regions > 0) text += " = " + joined(schedule.regions_of(op), " + ");
  return text;
}

std::string group_line(const Schedule& s, std::size_t number) {
  std::string text = "group " + std::to_string(number) + ":";
  for (const Rank member : s.groups[number]) text += " " + std::to_string(member);
  return text + "\n";
}

std::string header(const Schedule& s) {
  std::string text = "schedule " + std::string(name_of(s.collective)) + " ranks " + std::to_string(s.ranks) +
                     " rank " + std::to_string(s.rank) + " root " + std::to_string(s.root) + " chunks " +
                     std::to_string(s.chunks) + "\n";
  if (s.staging != Window{})
    text += "staging [" + std::to_string(s.staging.first) + ".." +
            std::to_string(std::uint64_t{s.staging.first} + s.staging.count) + ") planes " +
            std::to_string(s.staging.planes) + "\n";
  if (s.scratch_planes > 0) text += "scratch planes " + std::to_string(s.scratch_planes) + "\n";
  for (std::size_t i = 0; i < s.groups.size(); ++i) text += group_line(s, i);
  return text;
}

}  // namespace

std::string to_text(const Region& r) {
  std::string text(buffer_names[static_cast<std::size_t>(r.buffer)]);
  if (r.owner != self) text += "@" + std::to_string(r.owner);
  return text + "[" + std::to_string(r.first) + ".." + std::to_string(std::uint64_t{r.first} + r.count) + ")";
}

std::string to_text(const Schedule& schedule, const Op& op) {
  const std::string name(code_names[static_cast<std::size_t>(op.code)]);
  switch (op.code) {
    case OpCode::send:
    case OpCode::recv:
      return name + " " + peer_name(op.peer) + (op.held > 0 ? " after " + std::to_string(op.held) : "") +
             ": " + joined(schedule.regions_of(op), ", ");
    case OpCode::copy:
    case OpCode::read:
    case OpCode::reduce:
      return name + " " + to_text(op.target) + " = " + joined(schedule.regions_of(op), " + ");
    case OpCode::expose:
      return name + " " + to_text(op.target);
    case OpCode::signal:
      return name + " " + std::to_string(op.step);
    case OpCode::wait:
      return name + " " + peer_name(op.peer) + " step " + std::to_string(op.step);
    case OpCode::aggregate:
    case OpCode::settle:
      return name + " " + std::to_string(op.step) + " group " + std::to_string(op.group) +
             (op.code == OpCode::aggregate ? aggregation(schedule, op) : "");
  }
  return name;
}

std::string to_text(const Schedule& schedule) {
  std::string text = header(schedule);
  std::uint32_t op = 0;
  for (std::size_t round = 0; round < schedule.rounds.size(); ++round)
    for (; op < schedule.rounds[round]; ++op)
      text += "round " + std::to_string(round) + ": " + to_text(schedule, schedule.ops[op]) + "\n";
  return text;
}

std::string place_name(const Schedule& schedule, std::uint32_t op) {
  const auto round = std::ranges::upper_bound(schedule.rounds, op) - schedule.rounds.begin();
  return "rank " + std::to_string(schedule.rank) + ", round " + std::to_string(round) + ", op " +
         std::to_string(op) + " (" + to_text(schedule, schedule.ops[op]) + ")";
}

}  // namespace hocket::ir
