// The text of rules: `collective conditions -> recipe`. docs/algorithms.md describes it.
#pragma once

#include <string_view>
#include <vector>

#include "tuning/rule.hpp"

namespace hocket::tuning {

/// One rule a line, # for remarks. `origin` names the text in errors: "rules.txt line 3: ...".
std::vector<Rules::Rule> parse_rules(std::string_view text, std::string_view origin);
/// HOCKET_FORCE: "allreduce:ring,bcast:knomial(radix=4)".
std::vector<Rules::Rule> parse_forced(std::string_view list);
/// HOCKET_DISABLE: "allreduce,alltoallv".
std::vector<Rules::Rule> parse_disabled(std::string_view list);

}  // namespace hocket::tuning
