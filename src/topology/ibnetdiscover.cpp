// The text that `ibnetdiscover` prints: a block for each switch and each adapter, a line for each cable.
//   Switch  36 "S-248a07"    # "leaf0" base port 0 lid 2 lmc 0
//   [1]     "H-7cfe90"[1](7cfe91)    # "n0 mlx5_0" lid 1 4xHDR
// With --grouping, the blocks of switches that are built into one chassis stand below a line of it. Without,
// what they have in common is the GUID of their system, which is how the program itself knows it of most:
//   Chassis 1 (guid 0x2c903004f0000)
//   sysimgguid=0x2c903004f0000
#include <unordered_map>

#include "topology/lines.hpp"
#include "topology/readers.hpp"

namespace hocket::topology {
namespace {

/// What stands between the next two quotation marks, which goes from the front of the text.
std::string_view quoted(std::string_view& text) {
  const std::size_t open = text.find('"');
  const std::size_t close = open == text.npos ? open : text.find('"', open + 1);
  if (close == text.npos) throw Error("a name in quotation marks is missing");
  const std::string_view name = text.substr(open + 1, close - open - 1);
  text.remove_prefix(close + 1);
  return name;
}

struct Named {
  std::string_view id;           ///< "S-..." or "H-...", "R-..."
  std::string_view description;  ///< the operator's name for it; empty if there is none
};

Named parse_named(std::string_view line) {
  Named named{quoted(line), {}};
  if (named.id.size() < 3 || named.id[1] != '-') throw Error(shown(named.id) + " is no S-, H- or R- name");
  const std::size_t remark = line.find('#');
  if (remark == line.npos) return named;
  line.remove_prefix(remark);
  if (line.find('"') != line.npos) named.description = quoted(line);
  return named;
}

/// The standard gives descriptions 64 bytes. They come over the fabric from whoever is plugged in.
std::string clean(std::string_view text) {
  constexpr std::size_t longest = 80;
  return printable(trimmed(trimmed(text).substr(0, longest)));
}

/// Adapters are described as "HOST ADAPTER"; where nothing is known, the GUID has to do.
std::string host_name(const Named& adapter) {
  const auto described = words(adapter.description);
  return clean(described.empty() ? adapter.id : described.front());
}

/// Director switches describe their chips as "MF0;SYSTEM:MODEL/L01/U1". Empty if these words are others.
std::string_view system_name(std::string_view description) {
  constexpr std::string_view mark = "MF0;";
  const std::size_t end = description.find(':');
  if (!description.starts_with(mark) || end == description.npos) return {};
  return trimmed(description.substr(mark.size(), end - mark.size()));
}

/// By the number or GUID that stands first.
std::string chassis_id(std::string_view text) {
  const auto found = words(text);
  return found.empty() ? std::string() : "chassis " + clean(found.front());
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view origin) : lines_(text, origin) {}

  Fabric read() {
    for (std::string_view line; lines_.next(line);) lines_.here([&] { take(line); });
    if (fabric_.switches.empty()) throw Error("no switch in what ibnetdiscover printed");
    make_names_differ();
    return std::move(fabric_);
  }

 private:
  void take(std::string_view line) {
    if (line.starts_with('['))
      take_cable(line);
    else if (line.starts_with("Switch"))
      begin_switch(parse_named(line));
    else if (line.starts_with("Ca") || line.starts_with("Rt"))
      is_in_switch_ = false;  // its cables stand at the switch as well
    else
      take_chassis(line);
  }

  /// Where the switches that follow are built in.
  void take_chassis(std::string_view line) {
    constexpr std::string_view section = "Chassis ", system = "sysimgguid=";
    if (line.starts_with(section))
      section_ = chassis_id(line.substr(section.size()));
    else if (line.starts_with("Non-Chassis"))
      section_.clear();
    else if (line.starts_with("vendid="))
      system_.clear();  // another block
    else if (line.starts_with(system))
      system_ = chassis_id(line.substr(system.size()));
  }

  void begin_switch(const Named& named) {
    current_ = switch_number(named);
    is_in_switch_ = true;
    if (const std::string name = clean(named.description); !name.empty())
      fabric_.switches[current_].name = name;
    if (const std::string& id = section_.empty() ? system_ : section_; !id.empty())
      fabric_.switches[current_].chassis = chassis_number(id, clean(system_name(named.description)));
  }

  /// Switches that nobody has named all have the name of their model, and their chassis the same.
  void make_names_differ() {
    std::unordered_map<std::string, std::size_t> times;
    for (const Fabric::Switch& s : fabric_.switches) ++times[s.name];
    for (const std::string& name : fabric_.chassis) ++times[name];
    const auto differ = [&](std::string& name, const std::string& id) {
      if (times[name] > 1 && name != id) name += " " + id;
    };
    for (const auto& [id, number] : switches_) differ(fabric_.switches[number].name, id);
    for (const auto& [id, number] : chassis_) differ(fabric_.chassis[number], id);
  }

  void take_cable(std::string_view line) {
    if (!is_in_switch_) return;
    const Named other = parse_named(line);
    if (other.id[0] == 'S') {
      const std::uint32_t neighbour = switch_number(other);  // before the reference: it may grow the vector
      fabric_.switches[current_].switches.push_back(neighbour);
    } else if (other.id[0] == 'H') {
      fabric_.switches[current_].hosts.push_back(host_number(host_name(other)));
    }
  }

  std::uint32_t switch_number(const Named& named) {
    std::string id = clean(named.id);
    const auto [found, is_new] =
        switches_.try_emplace(id, static_cast<std::uint32_t>(fabric_.switches.size()));
    if (is_new) fabric_.switches.push_back({std::move(id), {}, {}});
    return found->second;
  }

  std::uint32_t chassis_number(const std::string& id, const std::string& name) {
    const auto [found, is_new] = chassis_.try_emplace(id, static_cast<std::uint32_t>(fabric_.chassis.size()));
    if (is_new) fabric_.chassis.push_back(name.empty() ? id : name);
    return found->second;
  }

  std::uint32_t host_number(std::string name) {
    const auto [found, is_new] = hosts_.try_emplace(name, static_cast<std::uint32_t>(fabric_.hosts.size()));
    if (is_new) fabric_.hosts.push_back(std::move(name));
    return found->second;
  }

  Lines lines_;
  Fabric fabric_;
  std::unordered_map<std::string, std::uint32_t> switches_, hosts_, chassis_;
  std::string section_, system_;  ///< of the switches that follow; empty where nothing is said
  std::uint32_t current_ = 0;
  bool is_in_switch_ = false;
};

}  // namespace

Fabric parse_ibnetdiscover(std::string_view text, std::string_view origin) {
  return Reader(text, origin).read();
}

}  // namespace hocket::topology
