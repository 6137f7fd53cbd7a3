// What the texts of rules and recipes have in common.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace hocket::tuning {

/// Takes what stands before the next separator out of `text`.
inline std::string_view next_part(std::string_view& text, std::string_view separators) {
  const auto end = text.find_first_of(separators);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return part;
}

inline std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

template <class Range, class NameOf>
std::string listed(const Range& range, NameOf name_of) {
  std::string text;
  for (const auto& item : range) {
    const std::string_view name = name_of(item);
    if (!name.empty()) text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

template <class Number>
Number number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty())
    throw Error(quoted(text) + " is not a number");
  return value;
}

inline std::int32_t number_between(std::string_view name, std::string_view text, std::int32_t least,
                                   std::int32_t most) {
  const auto value = number<std::int32_t>(trimmed(text));
  if (value < least || value > most)
    throw Error(std::string(name) + "=" + std::to_string(value) + " is not between " + std::to_string(least) +
                " and " + std::to_string(most));
  return value;
}

/// Parts between commas that are not inside of parentheses.
inline std::vector<std::string_view> entries(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size()) depth += (list[i] == '(') - (list[i] == ')');
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    const std::string_view part = trimmed(list.substr(begin, i - begin));
    if (!part.empty()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

}  // namespace hocket::tuning
