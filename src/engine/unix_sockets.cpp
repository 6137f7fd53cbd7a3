#include "engine/unix_sockets.hpp"

#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hocket::engine {
namespace {

struct Address {
  sockaddr_un value{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&value); }
};

/// Abstract: a first byte of zero.
Address address_of(const std::string& name) noexcept {
  Address address;
  address.value.sun_family = AF_UNIX;
  std::memcpy(address.value.sun_path + 1, name.data(), name.size());
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

/// Room for descriptors beside one byte.
struct Message {
  char byte = 'h';
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(most_files * sizeof(int))]{};
  msghdr header{};
  Message() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
};

bool would_block() noexcept {
  return errno == EAGAIN || errno == EINTR;
}

}  // namespace

Descriptor new_unix_socket() {
  return Descriptor::moved_up(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

bool listen_at(const Descriptor& socket, const std::string& name) noexcept {
  const Address address = address_of(name);
  return bind(socket.number(), address.get(), address.size) == 0 && listen(socket.number(), 4096) == 0;
}

bool connect_to(const Descriptor& socket, const std::string& name) noexcept {
  const Address address = address_of(name);
  return connect(socket.number(), address.get(), address.size) == 0;
}

Descriptor accept_from(const Descriptor& listener) noexcept {
  return Descriptor(accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

ucred peer_of(const Descriptor& socket) noexcept {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    peer.uid = static_cast<uid_t>(-1);
  return peer;
}

bool is_same_user(const Descriptor& socket) noexcept {
  return peer_of(socket).uid == geteuid();
}

void send_files(const Descriptor& to, std::span<const int> files) noexcept {
  Message message;
  message.header.msg_controllen = CMSG_SPACE(files.size_bytes());
  cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(files.size_bytes());
  std::memcpy(CMSG_DATA(control), files.data(), files.size_bytes());
  sendmsg(to.number(), &message.header, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ReceivedFiles receive_files(const Descriptor& from) {
  Message message;
  const ssize_t size = recvmsg(from.number(), &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  ReceivedFiles received;
  received.closed = size == 0 || (size < 0 && !would_block());
  const cmsghdr* control = size > 0 ? CMSG_FIRSTHDR(&message.header) : nullptr;
  if (!control || control->cmsg_type != SCM_RIGHTS) return received;
  std::array<int, most_files> files{-1, -1};
  const std::size_t bytes = std::min(control->cmsg_len - CMSG_LEN(0), sizeof files);
  std::memcpy(files.data(), CMSG_DATA(control), bytes);
  std::ranges::transform(files, received.files.begin(), Descriptor::moved_up);
  return received;
}

bool send_packet(const Descriptor& to, std::span<const std::byte> packet) noexcept {
  return send(to.number(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(packet.size());
}

ssize_t receive_packet(const Descriptor& from, std::span<std::byte> packet) noexcept {
  const ssize_t size = recv(from.number(), packet.data(), packet.size(), MSG_DONTWAIT);
  if (size < 0) return would_block() ? -1 : 0;
  return size;
}

}  // namespace hocket::engine
