// The options table as values: one struct made from options.def.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hocket {

namespace option_type {
using text = std::string;
using flag = bool;
using bytes = std::size_t;
using seconds = double;
using count = long;
}  // namespace option_type

struct Options {
#define OPTION(member, variable, type, preset, help) option_type::type member{};
#include "base/options.def"
#undef OPTION
  Options();  ///< the presets

  /// From the environment. Throws Error naming variable and value when one cannot be read, and for unknown
  /// HOCKET_ variables.
  static Options from_environment();
  /// Those that decide anything the ranks must agree on, as "NAME=value;..." of what differs from the
  /// presets.
  std::string fingerprint() const;
};

struct OptionInfo {
  std::string_view member, variable, type, preset, help;
};
std::span<const OptionInfo> option_table();

}  // namespace hocket
