// Addresses of sockets: whose they are, and connecting to one without waiting.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "tcp/connection.hpp"

namespace hocket::aggregation {

struct Address {
  sockaddr_storage value{};
  socklen_t size = sizeof(sockaddr_storage);
};

/// May wait for a name server. Throws Error where there are none.
std::vector<Address> addresses_of(const tcp::Place& place);
Address own_address(const Descriptor& socket);
/// Who is connected there.
Address peer_address(const Descriptor& socket);
/// Only processes of this machine reach it.
bool is_loopback(const Address& address) noexcept;
/// "10.0.0.3:4711".
std::string name_of(const Address& address);

/// A socket that is being connected; it can be written when that has ended, well or not. Empty: not at all.
Descriptor begin_to_connect(const Address& address);
/// 0, or the errno with which it ended.
int outcome_of(const Descriptor& connecting) noexcept;

}  // namespace hocket::aggregation
