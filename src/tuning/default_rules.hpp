// The text of default.rules, taken into the library when it is built.
#pragma once

#include <string_view>

namespace hocket::tuning {

extern const std::string_view default_rules;

}  // namespace hocket::tuning
