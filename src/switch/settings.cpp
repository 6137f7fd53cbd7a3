#include "switch/settings.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <utility>

namespace hocket::aggregation {

namespace {

struct Option {
  std::string_view name;
  std::string_view value;  ///< what stands for it in the usage; empty: it has none
  std::string_view help;
  std::function<void(Settings&, const std::string&)> set;
};

/// `scale` makes letters of it: 64K, 1M.
std::uint64_t number_in(const std::string& text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), last, number);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const unsigned shift = unit == "K" ? 10 : unit == "M" ? 20 : 0;
  const bool is_number = error == std::errc() && (unit.empty() || shift > 0);
  if (!is_number || number > (most >> shift) || (number << shift) < least)
    throw UsageError("not a number from " + std::to_string(least) + " to " + std::to_string(most) + ": " +
                     text);
  return number << shift;
}

auto count(std::uint32_t Limits::* member, std::uint32_t least, std::uint32_t most) {
  return [=](Settings& settings, const std::string& text) {
    settings.limits.*member = static_cast<std::uint32_t>(number_in(text, least, most));
  };
}

/// Elements are of up to 32 bytes.
void set_window(Settings& settings, const std::string& text) {
  settings.limits.window = number_in(text, 4096, std::uint64_t{1} << 30U);
  if (settings.limits.window % 64 != 0) throw UsageError("not a multiple of 64: " + text);
}

const std::array<Option, 16>& options() {
  static const std::array<Option, 16> all{{
      {"--listen", "HOST:PORT", "where hosts and the switches below connect; port 0: any",
       [](Settings& to, const std::string& text) { to.listen = tcp::place_in(text); }},
      {"--parent", "HOST:PORT", "the switch above; without it this is the root of its tree",
       [](Settings& to, const std::string& text) { to.parent = tcp::place_in(text); }},
      {"--key", "FILE", "64 characters that all of the tree have; without it, loopback addresses only",
       [](Settings& to, const std::string& text) { to.key_file = text; }},
      {"--stats", "HOST:PORT", "answers GET /metrics (Prometheus) and GET /stats.json there",
       [](Settings& to, const std::string& text) { to.stats = tcp::place_in(text); }},
      {"--busy-poll", "", "never sleeps", [](Settings& to, const std::string&) { to.busy_poll = true; }},
      {"--verbose", "", "says on the standard error who comes and goes",
       [](Settings& to, const std::string&) { to.verbose = true; }},
      {"--no-streaming", "", "operations in small mode only",
       [](Settings& to, const std::string&) { to.limits.can_stream = false; }},
      {"--radix", "N", "children at most [252]", count(&Limits::children, 1, 4096)},
      {"--max-jobs", "N", "jobs at most [64]", count(&Limits::jobs, 1, 65'536)},
      {"--max-groups", "N", "groups of a job [167]", count(&Limits::groups, 1, 65'536)},
      {"--osts", "N", "outstanding operations of a job [167]", count(&Limits::operations, 1, 1U << 20U)},
      {"--osts-per-group", "N", "outstanding operations of a group [8]",
       count(&Limits::operations_per_group, 1, 4096)},
      {"--payload", "BYTES", "of an operation in small mode, 128 to 2048 [1024]",
       count(&Limits::payload, 128, 2048)},
      {"--window", "BYTES", "that a member may be ahead of the result when it streams [1M]", set_window},
      {"--join-seconds", "N", "from a group's first member to its last [30]",
       [](Settings& to, const std::string& text) {
         to.limits.join_seconds = static_cast<double>(number_in(text, 1, 86'400));
       }},
      {"--help", "", "this", [](Settings&, const std::string&) {}},
  }};
  return all;
}

const Option& option_of(const std::string& word) {
  for (const Option& one : options())
    if (one.name == word) return one;
  throw UsageError("unknown: " + word);
}

void apply(const Option& option, Settings& settings, const std::string& value) {
  try {
    option.set(settings, value);
  } catch (const Error& error) {
    throw UsageError(std::string(option.name) + ": " + error.what());
  }
}

}  // namespace

Settings settings_in(std::span<const std::string> words) {
  Settings settings;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Option& option = option_of(words[i]);
    const bool has_value = !option.value.empty();
    if (has_value && i + 1 == words.size())
      throw UsageError(words[i] + " needs " + std::string(option.value));
    apply(option, settings, has_value ? words[++i] : "");
  }
  if (settings.listen.port.empty()) throw UsageError("--listen HOST:PORT is missing");
  return settings;
}

std::string usage() {
  std::string text =
      "usage: hocket-switch --listen HOST:PORT [OPTION...]\n"
      "A switch of a tree that combines what its children send and gives all of them the result.\n";
  for (const Option& one : options()) {
    std::string left = "  " + std::string(one.name) + " " + std::string(one.value);
    left.resize(26, ' ');
    text += left + std::string(one.help) + "\n";
  }
  return text;
}

}  // namespace hocket::aggregation
