#include "switch/sockets/neighbour.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <utility>

#include "switch/wire/words.hpp"

namespace hocket::aggregation {

namespace {

/// Who asks for answers and does not take them is not heard for a while.
constexpr std::size_t most_frames = 4096;

}  // namespace

Neighbour::Neighbour(Loop& loop, Descriptor connection, const wire::Hello& hello, std::string name,
                     wire::Direction direction, const Limits& limits, Traffic& traffic, Hear hear)
    : Port(hello, std::move(name)),
      loop_(loop),
      connection_(std::move(connection)),
      traffic_(traffic),
      hear_(std::move(hear)),
      reader_(direction, limits.payload),
      events_(EPOLLIN) {
  loop_.watch(connection_, *this, events_);
}

Neighbour::~Neighbour() {
  loop_.forget(connection_);
}

/// One reading at a time: others have their turn.
void Neighbour::ready(std::uint32_t events) {
  if (end_) return;
  if ((events & EPOLLOUT) != 0) flush();
  if ((events & ~std::uint32_t{EPOLLOUT}) != 0) receive();
}

void Neighbour::receive() {
  const std::span<std::byte> room = reader_.room();
  const ssize_t bytes = recv(connection_.number(), room.data(), room.size(), MSG_DONTWAIT);
  if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (bytes <= 0) {
    end_ = {"closed its connection", false};
    return;
  }
  traffic_.in += static_cast<std::uint64_t>(bytes);
  reader_.came(static_cast<std::size_t>(bytes));
  hear_all();
}

void Neighbour::hear_all() {
  try {
    while (const auto piece = reader_.next()) hear_(*this, *piece);
  } catch (const wire::Malformed& error) {
    end_ = {error.what(), true};
  } catch (const std::exception& error) {
    end_ = {error.what(), false};
  }
}

void Neighbour::flush() {
  if (end_) return;
  if (!outbox_.flush(connection_, traffic_.out))
    end_ = {"takes nothing any more", false};
  else
    choose_events();
}

void Neighbour::choose_events() noexcept {
  const std::uint32_t in = outbox_.frames() < most_frames ? EPOLLIN : 0U;
  const std::uint32_t events = in | (outbox_.frames() > 0 ? EPOLLOUT : 0U);
  if (events == events_) return;
  events_ = events;
  loop_.change(connection_, *this, events);
}

void Neighbour::say_farewell(std::string_view words) {
  send_value({.kind = wire::FrameKind::failed}, wire::failure_of(wire::Error::general, words));
  outbox_.flush(connection_, traffic_.out);
  shutdown(connection_.number(), SHUT_WR);
}

}  // namespace hocket::aggregation
