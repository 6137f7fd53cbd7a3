// Version and options as one line, "hocket 0.1.0; HOCKET_FORCE=...", and how two of them differ.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hocket::engine {

std::uint64_t hash_of(std::string_view text);  ///< FNV-1a, 64 bits

/// "HOCKET_FORCE=allreduce:ring, and HOCKET_FORCE not set".
std::string fingerprint_difference(std::string_view one, std::string_view other);

}  // namespace hocket::engine
