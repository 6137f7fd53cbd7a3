#include "switch/sockets/address.hpp"

#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.hpp"

namespace hocket::aggregation {

namespace {

const sockaddr* general(const Address& address) noexcept {
  return reinterpret_cast<const sockaddr*>(&address.value);
}

template <class Value>
Value as(const Address& address) noexcept {
  Value value;
  std::memcpy(&value, &address.value, sizeof value);
  return value;
}

}  // namespace

std::vector<Address> addresses_of(const tcp::Place& place) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  const int error = getaddrinfo(place.host.c_str(), place.port.c_str(), &wanted, &first);
  if (error != 0) throw Error(place.host + ":" + place.port + ": " + gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(first, &freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* one = first; one; one = one->ai_next) {
    Address& address = addresses.emplace_back();
    std::memcpy(&address.value, one->ai_addr, one->ai_addrlen);
    address.size = one->ai_addrlen;
  }
  return addresses;
}

Address own_address(const Descriptor& socket) {
  Address address;
  getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address.value), &address.size);
  return address;
}

Address peer_address(const Descriptor& socket) {
  Address address;
  getpeername(socket.number(), reinterpret_cast<sockaddr*>(&address.value), &address.size);
  return address;
}

bool is_loopback(const Address& address) noexcept {
  if (address.value.ss_family == AF_INET)
    return ntohl(as<sockaddr_in>(address).sin_addr.s_addr) >> 24U == IN_LOOPBACKNET;
  if (address.value.ss_family != AF_INET6) return false;
  const auto six = as<sockaddr_in6>(address);
  return IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) != 0;
}

std::string name_of(const Address& address) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(general(address), address.size, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "an unknown address";
  std::string name(host.data());
  if (name.find(':') != std::string::npos) name = '[' + name + ']';
  return name.append(":").append(port.data());
}

Descriptor begin_to_connect(const Address& address) {
  Descriptor connecting(socket(address.value.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connecting) return {};
  tcp::set_options(connecting);
  if (connect(connecting.number(), general(address), address.size) != 0 && errno != EINPROGRESS) return {};
  return connecting;
}

int outcome_of(const Descriptor& connecting) noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(connecting.number(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace hocket::aggregation
