// How a member of a tree and the switch above it come to trust each other, before any frame: the member says
// who it is and asks for the switch's proof of the key, then gives its own. Who listens in a switch's place
// learns nothing.
//
//   member -> switch   Greeting: Hello, and a challenge
//   switch -> member   Reply: its proof, as "switch", for that challenge, and a challenge of its own
//   member -> switch   tcp::Proof, as "member"
//   switch -> member   Welcome
//
// Without a key (loopback alone) the key is 64 times '-', and all goes the same way.
#pragma once

#include <string_view>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "switch/wire/frames.hpp"
#include "tcp/connection.hpp"
#include "tcp/key.hpp"

namespace hocket::wire {

inline constexpr std::string_view role_of_switch = "switch", role_of_member = "member";

/// Stands for a key where none is needed.
tcp::Key no_key() noexcept;

struct Greeting {
  Hello hello;
  tcp::Challenge challenge{};
};
static_assert(sizeof(Greeting) == 40);

struct Reply {
  tcp::Proof proof{};
  tcp::Challenge challenge{};
};
static_assert(sizeof(Reply) == 80);

// The member's steps, for who must not wait in between.
/// Throws hocket::Error without random numbers.
Greeting greeting_of(const Hello& hello);
/// The member's proof. Throws hocket::Error where the switch has not got the key.
tcp::Proof answer_to(const Reply& reply, const tcp::Key& key, const Greeting& asked);
/// Throws hocket::Error with the refusal in words.
void check(const Welcome& welcome);

struct Admitted {
  Descriptor connection;  ///< from now on not blocking
  Welcome welcome;
};

/// The member's side, waiting. Throws hocket::Error with the reason: not reached, not a switch, another key,
/// another version, refused (with the switch's Error in words).
Admitted enter(const tcp::Place& place, const tcp::Key& key, const Hello& hello, const Deadline& end);

}  // namespace hocket::wire
