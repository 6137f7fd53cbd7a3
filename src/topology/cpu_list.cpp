#include "topology/cpu_list.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace hocket::topology {
namespace {

/// "0-3" or "7", not below `least`.
std::optional<CpuRange> range_in(std::string_view text, std::int64_t least) {
  const std::size_t dash = text.find('-');
  const auto first = number_in(text.substr(0, dash));
  const auto last = dash == text.npos ? first : number_in(text.substr(dash + 1));
  if (!first || !last || *first < least || *last < *first || *last >= most_cpus) return std::nullopt;
  return CpuRange{*first, *last};
}

}  // namespace

std::optional<std::int64_t> number_in(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<CpuList> cpu_list_in(std::string_view text) {
  CpuList list;
  for (const std::string_view word : words(text, ", \t\r\n")) {
    const auto range = range_in(word, list.empty() ? 0 : list.back().last + 1);
    if (!range) return std::nullopt;
    list.push_back(*range);
  }
  return list;
}

bool contains(const CpuList& list, std::int64_t cpu) {
  return std::ranges::any_of(list, [&](const CpuRange& r) { return r.first <= cpu && cpu <= r.last; });
}

}  // namespace hocket::topology
