#include "engine/arena_sockets.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"
#include "engine/unix_sockets.hpp"

namespace hocket::engine {
namespace {

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
  Descriptor listener = new_unix_socket();
  if (!listener || !listen_at(listener, name))
    throw Error(errno == EADDRINUSE ? "another process of this job is local rank 0 already"
                                    : std::string("no abstract Unix socket: ") + std::strerror(errno));
  return listener;
}

void serve_arena(const Descriptor& listener, int arena_file) noexcept {
  if (!listener.intact()) return;
  while (const Descriptor connection = accept_from(listener))
    if (is_same_user(connection)) send_files(connection, std::array{arena_file});
}

void ArenaRequest::prepare() {
  socket_ = new_unix_socket();
}

bool ArenaRequest::connect() {
  if (!socket_.intact()) prepare();
  if (!socket_ || !connect_to(socket_, name_)) return false;
  if (!is_same_user(socket_)) throw Error("another user holds the address of this job's arena");
  return true;
}

Descriptor ArenaRequest::answer() {
  ReceivedFiles received = receive_files(socket_);
  if (received.closed) {  // try again
    is_connected_ = false;
    socket_.reset();
  }
  return std::move(received.files[0]);
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
