#include "switch/sockets/loop.hpp"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace hocket::aggregation {

Loop::Loop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) throw Error(std::string("epoll: ") + std::strerror(errno));
}

void Loop::watch(const Descriptor& socket, Watched& watched, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &watched;
  if (epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, socket.number(), &event) != 0)
    throw Error(std::string("epoll: ") + std::strerror(errno));
}

void Loop::change(const Descriptor& socket, Watched& watched, std::uint32_t events) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &watched;
  epoll_ctl(epoll_.number(), EPOLL_CTL_MOD, socket.number(), &event);
}

void Loop::forget(const Descriptor& socket) noexcept {
  epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, socket.number(), nullptr);
}

std::uint64_t Loop::turn(int timeout_ms) {
  std::array<epoll_event, 64> events;
  const std::uint64_t began = monotonic_ns();
  const int count = epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()), timeout_ms);
  const std::uint64_t waited = monotonic_ns() - began;
  for (int i = 0; i < count; ++i)
    static_cast<Watched*>(events[static_cast<std::size_t>(i)].data.ptr)
        ->ready(events[static_cast<std::size_t>(i)].events);
  return waited;
}

}  // namespace hocket::aggregation
