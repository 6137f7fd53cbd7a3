#include "tcp/connection.hpp"

#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.hpp"

namespace hocket::tcp {

namespace {

struct AddressesEnd {
  void operator()(addrinfo* all) const noexcept { freeaddrinfo(all); }
};
using Addresses = std::unique_ptr<addrinfo, AddressesEnd>;

[[noreturn]] void fail(const Place& place, const std::string& why) {
  throw Error(place.host + ":" + place.port + ": " + why);
}

Addresses addresses_of(const Place& place, int flags) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags;
  addrinfo* all = nullptr;
  const int error = getaddrinfo(place.host.c_str(), place.port.c_str(), &wanted, &all);
  if (error != 0) fail(place, gai_strerror(error));
  return Addresses(all);
}

void set(const Descriptor& socket, int level, int option, int value = 1) {
  setsockopt(socket.number(), level, option, &value, sizeof value);
}

Descriptor new_socket(const addrinfo& address) {
  return Descriptor(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// False: the time is over.
bool wait_for(const Descriptor& socket, short event, const Deadline& end) {
  pollfd waited{socket.number(), event, 0};
  while (!end.passed())
    if (poll(&waited, 1, 100) > 0) return true;
  return false;
}

/// 0, or the errno.
int connect_there(const Descriptor& socket, const addrinfo& address, const Deadline& end) {
  if (connect(socket.number(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(socket, POLLOUT, end)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

struct OwnAddress {
  sockaddr_storage value{};
  explicit OwnAddress(const Descriptor& socket) {
    socklen_t size = sizeof value;
    if (getsockname(socket.number(), reinterpret_cast<sockaddr*>(&value), &size) != 0)
      value.ss_family = AF_UNSPEC;
  }
};

template <class Address>
const Address& as(const void* address) {
  return *static_cast<const Address*>(address);
}

bool is_same(const sockaddr& one, const sockaddr_storage& other) {
  if (one.sa_family != other.ss_family) return false;
  if (one.sa_family == AF_INET)
    return as<sockaddr_in>(&one).sin_addr.s_addr == as<sockaddr_in>(&other).sin_addr.s_addr;
  return one.sa_family == AF_INET6 && std::memcmp(&as<sockaddr_in6>(&one).sin6_addr,
                                                  &as<sockaddr_in6>(&other).sin6_addr, sizeof(in6_addr)) == 0;
}

/// True: it goes on when the socket is ready again.
bool is_later() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

template <class Move>
void move_all(const Descriptor& socket, std::size_t bytes, short event, const Deadline& end, Move move) {
  for (std::size_t done = 0; done < bytes;) {
    if (!wait_for(socket, event, end)) throw Error("the other side says nothing");
    const ssize_t moved = move(done);
    if (moved == 0 || (moved < 0 && !is_later())) throw Error("the other side has closed the connection");
    if (moved > 0) done += static_cast<std::size_t>(moved);
  }
}

}  // namespace

void set_options(const Descriptor& connection) {
  set(connection, IPPROTO_TCP, TCP_NODELAY);
  set(connection, SOL_SOCKET, SO_KEEPALIVE);
  set(connection, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(connection, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(connection, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

Place place_in(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
    throw Error("not HOST:PORT: " + text);
  Place place{text.substr(0, colon), text.substr(colon + 1)};
  if (place.host.front() == '[' && place.host.back() == ']')
    place.host = place.host.substr(1, place.host.size() - 2);
  else if (place.host.find(':') != std::string::npos)
    throw Error("not HOST:PORT (an IPv6 address is in brackets): " + text);
  return place;
}

Descriptor listen_at(const Place& place) {
  const Addresses all = addresses_of(place, AI_PASSIVE);
  Descriptor listener = new_socket(*all);
  set(listener, SOL_SOCKET, SO_REUSEADDR);
  if (all->ai_family == AF_INET6)
    set(listener, IPPROTO_IPV6, IPV6_V6ONLY);  // devices have addresses of one kind
  if (!listener || bind(listener.number(), all->ai_addr, all->ai_addrlen) != 0 ||
      listen(listener.number(), SOMAXCONN) != 0)
    fail(place, std::strerror(errno));
  return listener;
}

Descriptor connect_to(const Place& place, const Deadline& end) {
  const Addresses all = addresses_of(place, 0);
  int error = 0;
  for (const addrinfo* one = all.get(); one; one = one->ai_next) {
    Descriptor connection = new_socket(*one);
    error = connection ? connect_there(connection, *one, end) : errno;
    if (error != 0) continue;
    set_options(connection);
    return connection;
  }
  fail(place, std::strerror(error));
}

Descriptor accept_from(const Descriptor& listener) {
  Descriptor connection(accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection) set_options(connection);
  return connection;
}

std::string name_of(const Descriptor& socket) {
  const OwnAddress own(socket);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&own.value), sizeof own.value, host.data(), host.size(),
                  port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "an unknown address";
  std::string name(host.data());
  if (name.find(':') != std::string::npos) name = '[' + name + ']';
  return name.append(":").append(port.data());
}

Place peer_of(const Descriptor& connection) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (getpeername(connection.number(), reinterpret_cast<sockaddr*>(&peer), &size) != 0)
    throw Error(std::string("the other side has gone: ") + std::strerror(errno));
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  const int error = getnameinfo(reinterpret_cast<const sockaddr*>(&peer), size, host.data(), host.size(),
                                port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  if (error != 0) throw Error(gai_strerror(error));
  return {host.data(), port.data()};
}

std::string device_of(const Descriptor& socket) {
  const OwnAddress own(socket);
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return "";
  std::string name;
  for (const ifaddrs* one = all; one && name.empty(); one = one->ifa_next)
    if (one->ifa_addr && is_same(*one->ifa_addr, own.value)) name = one->ifa_name;
  freeifaddrs(all);
  return name.substr(0, name.find(':'));  // "eth0:1" is an address of eth0
}

void send_all(const Descriptor& socket, std::span<const std::byte> data, const Deadline& end) {
  move_all(socket, data.size(), POLLOUT, end, [&](std::size_t done) {
    return send(socket.number(), data.data() + done, data.size() - done, MSG_NOSIGNAL);
  });
}

void receive_all(const Descriptor& socket, std::span<std::byte> data, const Deadline& end) {
  move_all(socket, data.size(), POLLIN, end, [&](std::size_t done) {
    return recv(socket.number(), data.data() + done, data.size() - done, 0);
  });
}

void end_sending(const Descriptor& socket, const Deadline& end) noexcept {
  std::array<char, 4096> unread;
  shutdown(socket.number(), SHUT_WR);
  while (wait_for(socket, POLLIN, end))
    if (const ssize_t got = recv(socket.number(), unread.data(), unread.size(), 0);
        got == 0 || (got < 0 && !is_later()))
      return;
}

}  // namespace hocket::tcp
