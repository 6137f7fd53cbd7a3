// What waits: sockets of one thread, each with somebody who is told that it is ready (epoll,
// level-triggered).
#pragma once

#include <cstdint>

#include "base/descriptor.hpp"

namespace hocket::aggregation {

/// Lives until it is forgotten, and until the turn in which it was is over.
class Watched {
 public:
  virtual ~Watched() = default;
  /// `events`: epoll's.
  virtual void ready(std::uint32_t events) = 0;
};

class Loop {
 public:
  /// Throws Error.
  Loop();
  /// Throws Error.
  void watch(const Descriptor& socket, Watched& watched, std::uint32_t events);
  void change(const Descriptor& socket, Watched& watched, std::uint32_t events) noexcept;
  void forget(const Descriptor& socket) noexcept;
  /// Waits at most so long, and tells who is ready. Returns the time that was waited.
  std::uint64_t turn(int timeout_ms);

 private:
  Descriptor epoll_;
};

}  // namespace hocket::aggregation
