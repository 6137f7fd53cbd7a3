#include "engine/handover/doorbell.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace hocket::engine::handover {

Doorbell Doorbell::create() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    throw Error(std::string("no doorbell for the ranks: ") + std::strerror(errno));
  Doorbell made(Descriptor::moved_up(ends[0]));
  made.inside_ = Descriptor::moved_up(ends[1]);
  return made;
}

/// Where there is no room for one more, there are enough.
void Doorbell::ring() const noexcept {
  constexpr std::byte once{1};
  send(outside(), &once, sizeof once, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Whom somebody has shut the bell to hears it no more, or it would ring for ever.
void Doorbell::fall_silent() noexcept {
  std::array<std::byte, 256> rings;
  if (recv(inside(), rings.data(), rings.size(), MSG_DONTWAIT) == 0) inside_.reset();
}

}  // namespace hocket::engine::handover
