// Slurm's lists of hosts: "n[00-03,7],r[0-1]n[0-3],login".
#include <charconv>

#include "topology/lines.hpp"
#include "topology/readers.hpp"

namespace hocket::topology {
namespace {

constexpr std::size_t most_hosts = std::size_t{1} << 20U;
constexpr std::size_t most_digits = 20;

/// At commas outside of brackets.
std::vector<std::string_view> parts(std::string_view list) {
  std::vector<std::string_view> found;
  std::size_t start = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    if (c == '[' || c == ']') {
      if (inside == (c == '[')) throw Error(shown(list) + ": brackets do not match");
      inside = !inside;
    } else if (c == ',' && (!inside || i == list.size())) {
      found.push_back(list.substr(start, i - start));
      start = i + 1;
    }
  }
  if (inside) throw Error(shown(list) + ": brackets do not match");
  return found;
}

std::uint64_t number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size() || digits.empty() ||
      digits.size() > most_digits)
    throw Error(shown(digits) + " is no number");
  return value;
}

/// As wide as the first number of the range is written.
std::string padded(std::uint64_t value, std::size_t width) {
  const std::string digits = std::to_string(value);
  return std::string(width > digits.size() ? width - digits.size() : 0, '0') + digits;
}

/// "00-03,7": the numbers, as written.
std::vector<std::string> expand_ranges(std::string_view ranges) {
  std::vector<std::string> found;
  for (const std::string_view range : words(ranges, ",")) {
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const std::string_view high = dash == range.npos ? low : range.substr(dash + 1);
    const std::uint64_t first = number(low), last = number(high);
    if (last < first || last - first >= most_hosts - found.size()) throw Error(shown(range) + " is no range");
    // counted: after the largest number comes none that would end the loop
    for (std::uint64_t i = 0; i <= last - first; ++i) found.push_back(padded(first + i, low.size()));
  }
  if (found.empty()) throw Error("empty brackets");
  return found;
}

/// One name, or the product of its brackets.
std::vector<std::string> expand_one(std::string_view part) {
  std::vector<std::string> names = {""};
  while (!part.empty()) {
    const std::size_t open = part.find('[');
    // before a long name becomes a million of them
    if (names.front().size() + part.substr(0, open).size() > Tree::longest_name)
      throw Error(shown(part) + " is too long a name");
    for (std::string& name : names) name.append(part.substr(0, open));
    if (open == part.npos) break;
    const std::size_t close = part.find(']', open);
    const std::vector<std::string> numbers = expand_ranges(part.substr(open + 1, close - open - 1));
    if (names.size() * numbers.size() > most_hosts) throw Error(shown(part) + ": too many hosts");
    std::vector<std::string> longer;
    for (const std::string& name : names)
      for (const std::string& n : numbers) longer.push_back(name + n);
    names = std::move(longer);
    part.remove_prefix(close + 1);
  }
  return names;
}

}  // namespace

std::vector<std::string> expand_host_list(std::string_view list) {
  std::vector<std::string> hosts;
  for (const std::string_view part : parts(list)) {
    const std::vector<std::string> names = expand_one(trimmed(part));
    if (names.front().empty()) throw Error(shown(list) + " has an empty name");
    hosts.insert(hosts.end(), names.begin(), names.end());
    if (hosts.size() > most_hosts) throw Error("too many hosts in one list");
  }
  return hosts;
}

}  // namespace hocket::topology
