// What a host and a remote worker of one user both know, in a file that only this user can read, and how each
// shows the other that it does, without showing it: the answer to a random challenge is SHA-crypt's (Drepper,
// Unix crypt using SHA-256 and SHA-512), of the key with the challenge as salt.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace hocket::tcp {

/// 64 characters, mostly hexadecimal digits.
using Key = std::array<char, 64>;

/// Throws Error where there is none, or others could have read it.
Key key_in(const std::string& path);

/// Random letters.
using Challenge = std::array<char, 16>;
using Proof = std::array<char, 64>;

/// Throws Error without random numbers.
Challenge new_challenge();
/// Of who has the key. `role`: of whom it is asked; a proof of one is none of another. Throws Error.
Proof proof_of(const Key& key, std::string_view role, const Challenge& challenge);
/// In a time that says nothing of how they differ.
bool is_same(const Proof& one, const Proof& other) noexcept;

}  // namespace hocket::tcp
