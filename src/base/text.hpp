// Pieces of text, for the parsers of what people write.
#pragma once

#include <string_view>
#include <vector>

namespace hocket {

inline constexpr std::string_view blanks = " \t\r";

inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Separated by any of these characters, empty ones left out.
inline std::vector<std::string_view> words(std::string_view text, std::string_view separators = blanks) {
  std::vector<std::string_view> found;
  for (std::size_t at = 0; (at = text.find_first_not_of(separators, at)) != text.npos;) {
    const std::size_t end = text.find_first_of(separators, at);
    found.push_back(text.substr(at, end - at));
    if (end == text.npos) break;
    at = end;
  }
  return found;
}

}  // namespace hocket
