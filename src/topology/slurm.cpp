// What Slurm knows of the network: topology.conf of topology/tree, and what it tells a task.
#include <algorithm>
#include <map>
#include <utility>

#include "topology/lines.hpp"
#include "topology/readers.hpp"

namespace hocket::topology {
namespace {

constexpr std::uint32_t most_levels = 32;
constexpr std::size_t most_names = std::size_t{1} << 20U;  // in one file: a line can name as many
constexpr std::size_t most_address = 4096;

struct SwitchLine {
  std::string name;
  std::vector<std::string> switches, nodes;
  bool is_below = false;
};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

void take(std::string_view key, std::string_view value, SwitchLine& line) {
  const std::string name = lower(key);
  if (name == "switchname")
    line.name = value;
  else if (name == "switches")
    line.switches = expand_host_list(value);
  else if (name == "nodes")
    line.nodes = expand_host_list(value);
  else if (name != "linkspeed")
    throw Error(shown(key) + " is not known to topology/tree: SwitchName, Switches, Nodes, LinkSpeed");
}

SwitchLine parse_line(std::string_view text) {
  SwitchLine line;
  for (const std::string_view word : words(text)) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos) throw Error(shown(word) + " is not 'KEY=VALUE'");
    take(word.substr(0, equals), word.substr(equals + 1), line);
  }
  if (line.name.empty()) throw Error("a line needs SwitchName=");
  if (line.switches.empty() == line.nodes.empty())
    throw Error("switch " + shown(line.name) + " needs Switches= or Nodes=, one of them");
  return line;
}

using Switches = std::map<std::string, SwitchLine, std::less<>>;

/// Lines that end in a backslash go on in the next one.
Switches parse_switches(std::string_view text, std::string_view origin) {
  Switches switches;
  std::size_t named = 0;
  Lines lines(text, origin);
  std::string whole;
  for (std::string_view line; lines.next(line);) {
    line = line.substr(0, line.find('#'));
    line = line.substr(0, line.find_last_not_of(blanks) + 1);
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
    whole.append(line);
    if (goes_on) continue;
    if (!trimmed(whole).empty()) {
      SwitchLine parsed = lines.here([&] { return parse_line(whole); });
      const std::string name = parsed.name;
      named += parsed.switches.size() + parsed.nodes.size();
      if (named > most_names) lines.fail("more than " + std::to_string(most_names) + " names");
      if (!switches.emplace(name, std::move(parsed)).second)
        lines.fail("switch " + shown(name) + " for the second time");
    }
    whole.clear();
  }
  if (!trimmed(whole).empty()) lines.fail("the last line ends in a backslash");
  return switches;
}

void connect(Switches& switches) {
  for (auto& [name, line] : switches)
    for (const std::string& below : line.switches) {
      const auto found = switches.find(below);
      if (found == switches.end())
        throw Error("switch " + shown(name) + " is above " + shown(below) + ", which has no line");
      if (std::exchange(found->second.is_below, true))
        throw Error("switch " + shown(below) + " is below two switches");
    }
}

void add(Tree& tree, Tree::Id parent, const Switches& switches, const std::string& name) {
  const SwitchLine& line = switches.at(name);
  const Tree::Id own = tree.add(parent, Kind::network, name);
  if (tree.at(own).depth > most_levels) throw Error("switch " + shown(name) + " has too many above it");
  for (const std::string& node : line.nodes) tree.add(own, Kind::node, node);
  for (const std::string& below : line.switches) add(tree, own, switches, below);
}

std::vector<std::string> top_of(const Switches& switches) {
  std::vector<std::string> top;
  for (const auto& [name, line] : switches)
    if (!line.is_below) top.push_back(name);
  return top;
}

}  // namespace

Tree parse_slurm_topology(std::string_view text, std::string_view origin) try {
  Switches switches = parse_switches(text, origin);
  if (switches.empty()) throw Error("no line with SwitchName=");
  connect(switches);
  const std::vector<std::string> top = top_of(switches);
  if (top.empty()) throw Error("every switch is below another one");
  Tree tree(Kind::network, "network");
  for (const std::string& name : top) add(tree, Tree::root, switches, name);
  // a circle of switches hangs below nothing, so nobody has added it
  if (tree.count(Kind::network) != switches.size() + 1)
    throw Error("some switches are below each other in a circle");
  return tree;
} catch (const Error& problem) {
  const std::string what = problem.what();
  throw Error(what.starts_with(origin) ? what : std::string(origin) + ": " + what);
}

std::vector<std::string> parse_slurm_address(std::string_view address, std::string_view pattern) {
  const auto fail = [&] { throw Error(shown(address) + " is no address of the form " + shown(pattern)); };
  const auto kinds = words(pattern, ".");
  if (kinds.empty() || kinds.back() != "node" || address.size() > most_address) fail();
  std::vector<std::string> names;
  for (std::size_t level = 0; level + 1 < kinds.size(); ++level) {
    const std::size_t dot = address.find('.');
    if (kinds[level] != "switch" || dot == address.npos) fail();
    if (dot > 0) names.emplace_back(address.substr(0, dot));
    address.remove_prefix(dot + 1);
  }
  if (address.empty() || address.find('.') != address.npos) fail();
  names.emplace_back(address);
  return names;
}

}  // namespace hocket::topology
