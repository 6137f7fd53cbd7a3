// Words for people: of errors, and of failures as they travel, cut to length and with nothing in them that a
// terminal obeys.
#pragma once

#include <string>
#include <string_view>

#include "switch/wire/frames.hpp"

namespace hocket::wire {

/// For people: "no group is left".
std::string_view words_of(Error error) noexcept;

Failure failure_of(Error error, std::string_view words) noexcept;
std::string words_in(const Failure& failure);

}  // namespace hocket::wire
