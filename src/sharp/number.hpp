// Numbers as people write them into variables.
#pragma once

#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

namespace hocket::sharp {

/// Decimal digits and nothing else. Nothing: it is no such number, or too large.
inline std::optional<std::uint32_t> number_in(std::string_view text) noexcept {
  std::uint32_t number = 0;
  const char* const end = std::to_address(text.end());
  const std::from_chars_result read = std::from_chars(std::to_address(text.begin()), end, number);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace hocket::sharp
