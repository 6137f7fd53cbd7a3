#include "tuning/costs.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace hocket::tuning {
namespace {

constexpr std::array<std::string_view, 3> names = {"node", "leaf", "switches"};
constexpr double bytes_per_kib = 1024;

double cost(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
    throw Error("'" + std::string(text) + "' is no time in us");
  return value;
}

LevelCost parse_level(const std::vector<std::string_view>& line, std::size_t number) {
  const std::string_view expected = names[std::min(number, names.size() - 1)];
  if (line.size() < 4 || line.size() > 5 || line[0] != expected)
    throw Error("expected '" + std::string(expected) +
                " STARTUP_US MESSAGE_US US_PER_KIB [BOTH_WAYS_US_PER_KIB]'");
  const double one_way = cost(line[3]) / bytes_per_kib;
  return {cost(line[1]), cost(line[2]), one_way, line.size() == 5 ? cost(line[4]) / bytes_per_kib : one_way};
}

}  // namespace

const LevelCost& Costs::at(std::size_t distance) const {
  return levels[std::min(distance, levels.size() - 1)];
}

Costs usual_costs() {
  return {{{0.6, 0.2, 0.1e-3, 0.1e-3}, {2.0, 0.5, 0.08e-3, 0.08e-3}, {3.0, 0.5, 0.02e-3, 0.02e-3}}};
}

Costs costs_from(const std::string& file) {
  return file.empty() ? usual_costs()
                      : parse_costs(read_file(file, most_bytes_by_hand, "the costs file "), file);
}

Costs parse_costs(std::string_view text, std::string_view origin) {
  Costs costs;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    const auto line = words(whole.substr(0, whole.find('#')));
    if (line.empty()) continue;
    try {
      costs.levels.push_back(parse_level(line, costs.levels.size()));
    } catch (const Error& error) {
      throw Error(std::string(origin) + " line " + std::to_string(number) + ": " + error.what());
    }
  }
  if (costs.levels.size() < 2) throw Error(std::string(origin) + " has no costs of node and leaf");
  return costs;
}

}  // namespace hocket::tuning
