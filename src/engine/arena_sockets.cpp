#include "engine/arena_sockets.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"

namespace hocket::engine {
namespace {

struct Address {
  sockaddr_un value{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&value); }
};

/// Abstract: a first byte of zero; no file, gone with its socket.
Address address_of(const std::string& name) {
  Address address;
  address.value.sun_family = AF_UNIX;
  std::memcpy(address.value.sun_path + 1, name.data(), name.size());
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

Descriptor new_socket() {
  return Descriptor::moved_up(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/// The process that listens (or connected), as the kernel noted it then.
ucred peer_of(const Descriptor& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    peer.uid = static_cast<uid_t>(-1);
  return peer;
}

bool is_same_user(const Descriptor& socket) {
  return peer_of(socket).uid == geteuid();
}

/// Room for one descriptor beside one byte.
struct Message {
  char byte = 'h';
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr header{};
  Message() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
};

void send_file(const Descriptor& to, int file) noexcept {
  Message message;
  cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(control), &file, sizeof file);
  sendmsg(to.number(), &message.header, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// The link says "/memfd:NAME (deleted)".
bool is_memfd_named(int directory, const char* entry, const std::string& name) {
  char link[256];
  const ssize_t size = readlinkat(directory, entry, link, sizeof link - 1);
  if (size <= 0) return false;
  link[size] = '\0';
  return std::string(link).starts_with("/memfd:" + name);
}

/// Empty if /proc is not there, is another PID namespace's, or the other process is guarded (not dumpable).
Descriptor open_memfd_of(pid_t pid, const std::string& name) {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%d/fd", static_cast<int>(pid));
  DIR* directory = pid > 0 ? opendir(path) : nullptr;
  const int folder = directory ? dirfd(directory) : -1;
  if (folder < 0) return {};
  Descriptor file;
  while (const dirent* entry = readdir(directory)) {
    if (!is_memfd_named(folder, entry->d_name, name)) continue;
    file = Descriptor::moved_up(openat(folder, entry->d_name, O_RDWR | O_CLOEXEC));
    break;
  }
  closedir(directory);
  return file;
}

}  // namespace

std::string arena_name(const std::string& key) {
  std::uint64_t halves[2] = {14695981039346656037u, 1099511628211u * 31};
  for (char c : key)
    for (std::uint64_t& half : halves)
      half = (half ^ static_cast<unsigned char>(c)) * (1099511628211u + 2 * (&half - halves));
  char name[48];
  std::snprintf(name, sizeof name, "hocket-%016llx%016llx", static_cast<unsigned long long>(halves[0]),
                static_cast<unsigned long long>(halves[1]));
  return name;
}

Descriptor offer_arena(const std::string& name) {
  Descriptor listener = new_socket();
  const Address address = address_of(name);
  if (!listener || bind(listener.number(), address.get(), address.size) != 0 ||
      listen(listener.number(), 4096) != 0)
    throw Error(errno == EADDRINUSE ? "another process of this job is local rank 0 already"
                                    : std::string("no abstract Unix socket: ") + std::strerror(errno));
  return listener;
}

void serve_arena(const Descriptor& listener, int arena_file) noexcept {
  if (!listener.intact()) return;
  for (;;) {
    const int accepted = accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (accepted < 0) return;
    const Descriptor connection(accepted);
    if (is_same_user(connection)) send_file(connection, arena_file);
  }
}

void ArenaRequest::prepare() {
  socket_ = new_socket();
}

bool ArenaRequest::connect() {
  if (!socket_.intact()) prepare();
  const Address address = address_of(name_);
  if (!socket_ || ::connect(socket_.number(), address.get(), address.size) != 0) return false;
  if (!is_same_user(socket_)) throw Error("another user holds the address of this job's arena");
  return true;
}

Descriptor ArenaRequest::answer() {
  Message message;
  const ssize_t size = recvmsg(socket_.number(), &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {  // closed: try again
    is_connected_ = false;
    socket_.reset();
  }
  const cmsghdr* control = size > 0 ? CMSG_FIRSTHDR(&message.header) : nullptr;
  if (!control || control->cmsg_type != SCM_RIGHTS) return {};
  int file = -1;
  std::memcpy(&file, CMSG_DATA(control), sizeof file);
  return Descriptor::moved_up(file);
}

Descriptor ArenaRequest::poll() {
  Descriptor file;
  if (!is_connected_) {
    is_connected_ = connect();
    if (!is_connected_) return {};
    file = open_memfd_of(peer_of(socket_).pid, name_);
  }
  if (!file) file = answer();
  if (file) socket_.reset();
  return file;
}

const char* ArenaRequest::waits_for() const {
  return is_connected_ ? "local rank 0 did not hand over the arena in time"
                       : "local rank 0 offers no arena: started without Hocket?";
}

}  // namespace hocket::engine
