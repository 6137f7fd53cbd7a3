#include "switch/wire/handshake.hpp"

#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "switch/wire/words.hpp"

namespace hocket::wire {

namespace {

Welcome introduce(const Descriptor& connection, const tcp::Key& key, const Hello& hello,
                  const Deadline& end) {
  const Greeting asked = greeting_of(hello);
  tcp::send_value(connection, asked, end);
  tcp::send_value(connection, answer_to(tcp::receive_value<Reply>(connection, end), key, asked), end);
  const auto welcome = tcp::receive_value<Welcome>(connection, end);
  check(welcome);
  return welcome;
}

}  // namespace

tcp::Key no_key() noexcept {
  tcp::Key key;
  key.fill('-');
  return key;
}

Greeting greeting_of(const Hello& hello) {
  return {hello, tcp::new_challenge()};
}

tcp::Proof answer_to(const Reply& reply, const tcp::Key& key, const Greeting& asked) {
  if (!tcp::is_same(reply.proof, tcp::proof_of(key, role_of_switch, asked.challenge)))
    throw hocket::Error("what listens there is no switch with this key");
  return tcp::proof_of(key, role_of_member, reply.challenge);
}

void check(const Welcome& welcome) {
  if (welcome.error == Error::none) return;
  if (welcome.error == Error::not_supported)
    throw hocket::Error("the switch is of another version of Hocket");
  throw hocket::Error("the switch refuses: " + std::string(words_of(welcome.error)));
}

Admitted enter(const tcp::Place& place, const tcp::Key& key, const Hello& hello, const Deadline& end) {
  Descriptor connection = tcp::connect_to(place, end);  // says itself where
  try {
    const Welcome welcome = introduce(connection, key, hello, end);
    return {std::move(connection), welcome};
  } catch (const hocket::Error& error) {
    throw hocket::Error(place.host + ":" + place.port + ": " + error.what());
  }
}

}  // namespace hocket::wire
