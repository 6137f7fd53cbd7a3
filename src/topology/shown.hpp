// How what somebody else has written is shown in an error: short, and on one line.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace hocket::topology {

inline bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// With '?' for what a terminal would obey.
inline std::string printable(std::string_view text) {
  std::string result(text);
  std::replace_if(result.begin(), result.end(), is_control, '?');
  return result;
}

/// In quotation marks.
inline std::string shown(std::string_view text) {
  constexpr std::size_t longest = 80;
  return "'" + printable(text.substr(0, longest)) + (text.size() > longest ? "...'" : "'");
}

}  // namespace hocket::topology
