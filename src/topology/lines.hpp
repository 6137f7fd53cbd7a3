// Lines of the texts that topologies are read from, with their numbers for errors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "topology/shown.hpp"

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

}  // namespace hocket::topology
