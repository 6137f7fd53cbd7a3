// Abstract Unix sockets between processes of one user: no file, gone with their process.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "base/descriptor.hpp"

namespace hocket::engine {

/// For packets, in a high place, never blocking; empty: none can be had.
Descriptor new_unix_socket();

/// Listens at `name`. False, with errno: the name is taken, or there are no abstract addresses here.
bool listen_at(const Descriptor& socket, const std::string& name) noexcept;
bool connect_to(const Descriptor& socket, const std::string& name) noexcept;
/// The next who has connected; empty: nobody.
Descriptor accept_from(const Descriptor& listener) noexcept;

/// The process that listens (or connected), as the kernel noted it then.
ucred peer_of(const Descriptor& socket) noexcept;
bool is_same_user(const Descriptor& socket) noexcept;

inline constexpr std::size_t most_files = 2;  ///< in a packet

/// One packet with the right to these files.
void send_files(const Descriptor& to, std::span<const int> files) noexcept;

/// What a receive has found.
struct ReceivedFiles {
  std::array<Descriptor, most_files> files;  ///< the first ones; empty: none yet
  bool closed = false;                       ///< and none will come
};
ReceivedFiles receive_files(const Descriptor& from);

bool send_packet(const Descriptor& to, std::span<const std::byte> packet) noexcept;
/// Bytes received; 0: closed; -1: nothing has come yet.
ssize_t receive_packet(const Descriptor& from, std::span<std::byte> packet) noexcept;

}  // namespace hocket::engine
