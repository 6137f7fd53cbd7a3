// What a host and a remote worker of one user both know, in a file that only this user can read.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace hocket::worker::remote {

/// 64 characters, mostly hexadecimal digits.
using Key = std::array<char, 64>;

/// Throws Error where there is none, or others could have read it.
Key key_in(const std::string& path);

/// In a time that says nothing of how they differ.
bool is_same(const Key& one, const Key& other) noexcept;

}  // namespace hocket::worker::remote
