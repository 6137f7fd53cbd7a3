// What is said of errors, on standard error: nothing, unless HOCKET_VERBOSE or SHARP_COLL_LOG_LEVEL asks for
// it.
#pragma once

namespace hocket::sharp {

/// `where`: a function of the interface, or a thing.
void say_error(const char* where, int code, const char* words) noexcept;

}  // namespace hocket::sharp
