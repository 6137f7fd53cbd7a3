#include "engine/handover/door.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "engine/unix_sockets.hpp"

namespace hocket::engine::handover {
namespace {

bool is_digit(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/// In a time that does not tell how much of it is right.
bool are_equal(std::span<const std::byte> one, std::span<const std::byte> other) noexcept {
  unsigned difference = one.size() == other.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i)
    difference |= std::to_integer<unsigned>(one[i] ^ other[i]);
  return difference == 0;
}

void pause() noexcept {
  sleep_ns(1'000'000);
}

}  // namespace

std::optional<Entrance> parse_entrance(std::string_view text) noexcept {
  constexpr std::size_t digits = Entrance::digits;
  if (text.size() != 2 * digits + 1 || text[digits] != ':') return std::nullopt;
  Entrance entrance;
  text.copy(entrance.name.data(), digits);
  text.copy(entrance.secret.data(), digits, digits + 1);
  const bool good =
      std::ranges::all_of(entrance.name, is_digit) && std::ranges::all_of(entrance.secret, is_digit);
  return good ? std::optional(entrance) : std::nullopt;
}

std::vector<Entrance> parse_entrances(std::string_view text) {
  std::vector<Entrance> entrances;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto entrance = parse_entrance(text.substr(begin, end - begin));
    if (!entrance) return {};
    entrances.push_back(*entrance);
    begin = end + 1;
  }
  return entrances;
}

Door::Door(const Entrance& entrance) : entrance_(entrance), listener_(new_unix_socket()) {
  if (!listener_ || !listen_at(listener_, entrance.address()))
    throw Error(std::string("no door for the ranks: ") + std::strerror(errno));
}

/// Whether nothing more is to be heard of this one: it has been let in, or sent away.
bool Door::is_over(Visitor& visitor, const Desks& desks, int& admitted) const {
  std::array<std::byte, 2 * Entrance::digits> said{};
  const ssize_t size = receive_packet(visitor.socket, said);
  if (size < 0) return visitor.until.passed();
  if (!are_equal(std::span(said).first(static_cast<std::size_t>(size)),
                 std::as_bytes(std::span(entrance_.secret))))
    return true;
  send_files(visitor.socket, std::array{desks.file(), desks.bell()});
  ++admitted;
  return true;
}

/// Cheaper than to let in nobody, for which the kernel makes a socket first.
bool Door::is_called() const noexcept {
  pollfd listener{listener_.number(), POLLIN, 0};
  return poll(&listener, 1, 0) > 0;
}

/// False: nobody is waiting.
bool Door::let_in_next() {
  Descriptor visitor = accept_from(listener_);
  const bool is_full = !visitor && (errno == EMFILE || errno == ENFILE);
  if (!visitor && !(is_full && !visitors_.empty())) return false;
  if (visitor && is_same_user(visitor)) visitors_.push_back({std::move(visitor), Deadline(patience_seconds)});
  if (is_full || visitors_.size() > most_visitors) visitors_.pop_front();
  return true;
}

/// So many at most that the worker has time for its ranks.
int Door::serve(const Desks& desks) {
  int admitted = 0;
  for (std::size_t left = most_visitors; left > 0 && is_called() && let_in_next(); --left) {
  }
  visitors_.remove_if([&](Visitor& visitor) { return is_over(visitor, desks, admitted); });
  return admitted;
}

DeskFiles enter(const Entrance& entrance, double seconds) {
  const Descriptor socket = new_unix_socket();
  if (!socket) throw Error("no Unix socket");
  const Deadline end(seconds);
  while (!connect_to(socket, entrance.address())) {  // it may be starting
    if (end.passed()) throw Error("the worker has not come up in time, or has ended");
    pause();
  }
  if (!is_same_user(socket)) throw Error("another user holds the address of this node's worker");
  if (!send_packet(socket, std::as_bytes(std::span(entrance.secret))))
    throw Error("the worker has closed its door");
  for (;;) {
    ReceivedFiles received = receive_files(socket);
    if (received.files[1]) return {std::move(received.files[0]), std::move(received.files[1])};
    if (received.files[0])
      throw Error("the worker is of another version of Hocket, or too many files are open");
    if (received.closed) throw Error("the worker refuses this job's secret, or has ended");
    if (end.passed()) throw Error("the worker did not answer in time");
    pause();
  }
}

}  // namespace hocket::engine::handover
