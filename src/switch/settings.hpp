// What hocket-switch is told when it is started.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "switch/groups/limits.hpp"
#include "tcp/connection.hpp"

namespace hocket::aggregation {

struct Settings {
  tcp::Place listen;
  std::optional<tcp::Place> parent;  ///< none: the root of the tree
  std::optional<tcp::Place> stats;
  std::string key_file;  ///< empty: loopback alone
  bool busy_poll = false;
  bool verbose = false;
  Limits limits;
};

/// The command line is not one of hocket-switch.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Of the command line, without the program's name. Throws UsageError.
Settings settings_in(std::span<const std::string> words);
std::string usage();

}  // namespace hocket::aggregation
