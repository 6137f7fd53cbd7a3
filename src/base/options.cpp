#include "base/options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/error.hpp"
#include "base/on_off.h"

extern "C" char**
    environ;  // NOLINT(readability-redundant-declaration): <unistd.h> has it only with GNU extensions

namespace hocket {
namespace {

constexpr OptionInfo table[] = {
#define OPTION(member, variable, type, preset, help) {#member, #variable, #type, preset, help},
#include "base/options.def"
#undef OPTION
};

constexpr std::string_view internal_variables[] = {
#define OPTION(member, variable, type, preset, help)
#define INTERNAL_VARIABLE(variable, help) variable,
#include "base/options.def"
#undef INTERNAL_VARIABLE
#undef OPTION
};

struct Allowed {
  std::string_view variable;
  std::array<std::string_view, 4> values;
};

/// Texts that are one of a few words.
constexpr Allowed allowed_words[] = {
    {"HOCKET_DEVICE", {"auto", "host"}},
    {"HOCKET_CMA", {"auto", "on", "off"}},
    {"HOCKET_PROGRESS", {"auto", "calls", "thread"}},
    {"HOCKET_WAIT", {"auto", "spin", "yield", "sleep"}},
};

/// What decides anything that all ranks must do alike. The others may differ from rank to rank.
constexpr std::string_view agreed[] = {
    "HOCKET",           "HOCKET_DEVICE",   "HOCKET_TRIALS", "HOCKET_DISABLE", "HOCKET_FORCE",
    "HOCKET_MEMORY",    "HOCKET_CHECK",    "HOCKET_CMA",    "HOCKET_RULES",   "HOCKET_ACROSS_NODES",
    "HOCKET_NODE_SIZE", "HOCKET_PROGRESS", "HOCKET_COSTS",  "HOCKET_WORKERS", "HOCKET_SHARP_LIBRARY"};

[[noreturn]] void refuse(std::string_view variable, std::string_view value, std::string_view expected) {
  throw Error(std::string(variable) + "=" + std::string(value) + ": expected " + std::string(expected));
}

struct Reading {
  std::string_view variable;
  const char* value;
};

void read(const Reading& from, std::string& to) {
  to = from.value;
  for (const Allowed& allowed : allowed_words) {
    if (allowed.variable != from.variable) continue;
    if (std::find(allowed.values.begin(), allowed.values.end(), to) != allowed.values.end() && !to.empty())
      return;
    std::string list;
    for (std::string_view word : allowed.values)
      if (!word.empty()) list += (list.empty() ? "" : ", ") + std::string(word);
    refuse(from.variable, to, "one of " + list);
  }
}

void read(const Reading& from, bool& to) {
  to = hocket_means_on(from.value);
  if (!to && !hocket_means_off(from.value)) refuse(from.variable, from.value, "0, 1, on or off");
}

int shift_of_suffix(std::string_view suffix) {
  static constexpr std::string_view letters = "KMGT";
  if (suffix.empty() || suffix == "B") return 0;
  const auto at = letters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(suffix.front()))));
  const std::string_view rest = suffix.substr(1);
  if (at == letters.npos || !(rest.empty() || rest == "B" || rest == "iB")) return -1;
  return 10 * (static_cast<int>(at) + 1);
}

void read(const Reading& from, std::size_t& to) {
  char* end = nullptr;
  const double number = std::strtod(from.value, &end);
  const int shift = end == from.value ? -1 : shift_of_suffix(end);
  const double bytes = shift < 0 ? -1 : std::ldexp(number, shift);
  if (!(bytes >= 0 && bytes < 9e18))
    refuse(from.variable, from.value, "bytes, such as 4096, 64K, 1.5M or 2G");
  to = static_cast<std::size_t>(bytes);
}

void read(const Reading& from, double& to) {
  char* end = nullptr;
  to = std::strtod(from.value, &end);
  if (end == from.value || *end != '\0' || !(to >= 0) || !std::isfinite(to))
    refuse(from.variable, from.value, "seconds, such as 10 or 0.5");
}

[[maybe_unused]] void read(const Reading& from, long& to) {
  char* end = nullptr;
  to = std::strtol(from.value, &end, 10);
  if (end == from.value || *end != '\0' || to < 0) refuse(from.variable, from.value, "a count, such as 4");
}

/// Levenshtein 1966, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string_view nearest(std::string_view variable) {
  const auto better = [variable](const OptionInfo& a, const OptionInfo& b) {
    return edit_distance(variable, a.variable) < edit_distance(variable, b.variable);
  };
  return std::min_element(std::begin(table), std::end(table), better)->variable;
}

bool matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool is_known(std::string_view name) {
  return std::any_of(std::begin(table), std::end(table),
                     [&](const OptionInfo& o) { return o.variable == name; }) ||
         std::any_of(std::begin(internal_variables), std::end(internal_variables),
                     [&](std::string_view pattern) { return matches(pattern, name); });
}

void check_names() {
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if ((name == "HOCKET" || name.starts_with("HOCKET_")) && !is_known(name))
      throw Error("unknown variable " + std::string(name) + ": did you mean " + std::string(nearest(name)) +
                  "?");
  }
}

bool is_agreed(std::string_view variable) {
  return std::find(std::begin(agreed), std::end(agreed), variable) != std::end(agreed);
}

/// Files are compared by what they say, not by where they are: FNV-1a, 64 bits.
std::string content_hash(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4096> piece;
  std::uint64_t hash = 14695981039346656037u;
  while (file.read(piece.data(), piece.size()), file.gcount() > 0)
    for (const char c : std::string_view(piece.data(), static_cast<std::size_t>(file.gcount())))
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  if (!file.eof()) return "unreadable";  // not there, or a folder
  return std::to_string(hash);
}

std::string printed(const std::string& text) {
  return text;
}
std::string printed(bool flag) {
  return flag ? "1" : "0";
}
std::string printed(std::size_t bytes) {
  return std::to_string(bytes);
}
std::string printed(double seconds) {
  return std::to_string(seconds);
}
[[maybe_unused]] std::string printed(long count) {
  return std::to_string(count);
}

/// "1", nothing, or the name of a file.
std::string switch_or_file(const std::string& text) {
  if (hocket_means_off(text.c_str())) return {};
  return hocket_means_on(text.c_str()) ? "1" : text;
}

template <class Value>
void add_difference(std::string& to, std::string_view variable, const Value& value, const Value& preset) {
  if (!is_agreed(variable) || value == preset) return;
  if (!to.empty()) to += ';';
  to.append(variable).append("=").append(printed(value));
}

}  // namespace

Options::Options() {
#define OPTION(member, variable, type, preset, help) read({#variable, preset}, member);
#include "base/options.def"
#undef OPTION
}

Options Options::from_environment() {
  check_names();
  Options options;
#define OPTION(member, variable, type, preset, help) \
  if (const char* value = std::getenv(#variable); value && *value) read({#variable, value}, options.member);
#include "base/options.def"
#undef OPTION
  options.report = switch_or_file(options.report);
  return options;
}

std::string Options::fingerprint() const {
  const Options presets;
  Options compared = *this;
  if (!rules.empty()) compared.rules = "#" + content_hash(rules);
  if (!costs.empty()) compared.costs = "#" + content_hash(costs);
  compared.switch_place = switch_place.empty() ? "" : "somewhere";  // each machine has its own
  compared.switch_key = presets.switch_key;                         // the switch compares it
  std::string text;
#define OPTION(member, variable, type, preset, help) \
  add_difference(text, #variable, compared.member, presets.member);
#include "base/options.def"
#undef OPTION
  return text;
}

std::span<const OptionInfo> option_table() {
  return table;
}

}  // namespace hocket
