// What was not possible and why: a line at the end of the report, and on standard error with
// HOCKET_VERBOSE=1.
#pragma once

#include <string>

namespace hocket::interpose {

/// Each text is told once.
void explain(const std::string& text);

}  // namespace hocket::interpose
