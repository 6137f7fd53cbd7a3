// Lines of the texts that topologies are read from, with their numbers for errors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace hocket::topology {

class Lines {
 public:
  Lines(std::string_view text, std::string_view origin) : rest_(text), origin_(origin) {}

  /// False at the end. A line ends before its line feed and carriage return.
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number_;
    return true;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(origin_ + " line " + std::to_string(number_) + ": " + what);
  }
  /// Runs what throws without knowing where it is.
  template <class Step>
  auto here(Step step) const {
    try {
      return step();
    } catch (const Error& problem) {
      fail(problem.what());
    }
  }

 private:
  std::string_view rest_;
  const std::string origin_;
  std::size_t number_ = 0;
};

inline constexpr std::string_view blanks = " \t";

inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  return first == text.npos ? std::string_view()
                            : text.substr(first, text.find_last_not_of(blanks) - first + 1);
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

}  // namespace hocket::topology
