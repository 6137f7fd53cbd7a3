// TCP between a host and a remote worker: how they find each other, and how each learns that the other has
// ended. What they say later goes over the link.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/clock.hpp"
#include "base/descriptor.hpp"

namespace hocket::tcp {

/// HOST:PORT; an IPv6 address is in brackets.
struct Place {
  std::string host, port;
};
/// Throws Error for what is none.
Place place_in(const std::string& text);

/// What all of them have: small messages leave at once, and a machine that does not even acknowledge for 25 s
/// has gone.
void set_options(const Descriptor& connection);

/// A socket that listens there, or is connected to there. Throw Error with the reason.
Descriptor listen_at(const Place& place);
Descriptor connect_to(const Place& place, const Deadline& end);
/// The next who has connected. Empty: nobody.
Descriptor accept_from(const Descriptor& listener);

/// "192.168.255.2:18515", as the system knows this side.
std::string name_of(const Descriptor& socket);
/// Where the other side is, by numbers: it is found there again without asking for a name. Throws Error.
Place peer_of(const Descriptor& connection);
/// The network device of this side ("eth0"); empty: the system does not say.
std::string device_of(const Descriptor& socket);

// All of it, or an Error when the other side has closed it or the time is over.
void send_all(const Descriptor& socket, std::span<const std::byte> data, const Deadline& end);
void receive_all(const Descriptor& socket, std::span<std::byte> data, const Deadline& end);

/// Of a fixed layout, that both sides know.
template <class Value>
void send_value(const Descriptor& socket, const Value& value, const Deadline& end) {
  send_all(socket, std::as_bytes(std::span(&value, 1)), end);
}
template <class Value>
Value receive_value(const Descriptor& socket, const Deadline& end) {
  Value value;
  receive_all(socket, std::as_writable_bytes(std::span(&value, 1)), end);
  return value;
}

/// No more will be sent. Waits until the other side has closed it, too: who closes what it has not read takes
/// back what it has sent.
void end_sending(const Descriptor& socket, const Deadline& end) noexcept;

}  // namespace hocket::tcp
