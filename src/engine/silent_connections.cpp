#include "engine/silent_connections.hpp"

#include <arpa/inet.h>
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/file.hpp"

namespace hocket::engine {

namespace {

constexpr double first_timeout_seconds = 0.2;  // TCP's smallest; it doubles with each retransmission

unsigned retransmissions_in(double seconds) {
  unsigned count = 1;
  for (double passed = first_timeout_seconds; passed < seconds && count < 15; ++count)
    passed = 2 * passed + first_timeout_seconds;
  return count;
}

/// Of this process.
std::vector<std::uint64_t> own_sockets() {
  std::vector<std::uint64_t> inodes;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    char target[64];
    const ssize_t length = readlinkat(dirfd(folder.get()), entry->d_name, target, sizeof target - 1);
    if (length <= 0) continue;
    target[length] = 0;
    unsigned long long inode = 0;
    if (std::sscanf(target, "socket:[%llu]", &inode) == 1) inodes.push_back(inode);
  }
  std::ranges::sort(inodes);
  return inodes;
}

std::string text_of(const char* path) {
  constexpr std::size_t most_bytes = std::size_t{1} << 26U;
  return read_if_there(path, most_bytes).value_or("");
}

/// The kernel writes addresses as words of 32 bits in the order of this machine. IPv4 in IPv6 is the last
/// word.
std::string address_of(std::string_view digits) {
  const std::string last(digits.substr(digits.size() - 8));
  const auto word = static_cast<std::uint32_t>(std::strtoul(last.c_str(), nullptr, 16));
  if (digits.size() > 8 && !digits.starts_with("0000000000000000FFFF0000")) return "an IPv6 address";
  char text[INET_ADDRSTRLEN] = "";
  const in_addr address{word};
  return inet_ntop(AF_INET, &address, text, sizeof text) ? text : last;
}

/// Its timer runs because of data, or a connection, that are not acknowledged; and how often it has.
struct Line {
  static constexpr unsigned retransmission_timer = 1;
  char remote[33] = "";
  unsigned timer = 0;
  unsigned retransmissions = 0;
  unsigned long long inode = 0;

  bool read(const std::string& text) {
    return std::sscanf(text.c_str(),
                       " %*u: %*[0-9A-F]:%*x %32[0-9A-F]:%*x %*x %*x:%*x %x:%*x %x %*u %*u %llu", remote,
                       &timer, &retransmissions, &inode) == 4;
  }
};

void add(std::vector<std::string>& all, const std::string& one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(one);
}

}  // namespace

std::vector<std::string> silent_in(std::string_view table, const std::vector<std::uint64_t>& sockets,
                                   double seconds) {
  const unsigned least = retransmissions_in(seconds);
  std::vector<std::string> found;
  while (!table.empty()) {
    const std::size_t end = std::min(table.find('\n'), table.size() - 1);
    Line line;
    if (line.read(std::string(table.substr(0, end))) && line.timer == Line::retransmission_timer &&
        line.retransmissions >= least && std::ranges::binary_search(sockets, line.inode))
      add(found, address_of(line.remote));
    table.remove_prefix(end + 1);
  }
  return found;
}

std::vector<std::string> silent_addresses(double seconds) {
  const auto sockets = own_sockets();
  auto found = silent_in(text_of("/proc/self/net/tcp"), sockets, seconds);
  for (const std::string& more : silent_in(text_of("/proc/self/net/tcp6"), sockets, seconds))
    add(found, more);
  return found;
}

}  // namespace hocket::engine
