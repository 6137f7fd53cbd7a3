#include "worker/local_fabric.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/copy.hpp"
#include "base/error.hpp"
#include "transports/mpi/envelope.hpp"
#include "transports/mpi/heard_places.hpp"
#include "transports/mpi/tickets.hpp"
#include "worker/tag.hpp"

namespace hocket::worker {

using transports::mpi::Port;

class LocalFabric::LocalPort final : public Port {
 public:
  LocalPort(LocalFabric& fabric, Rank self) : fabric_(fabric), rank_(self) {}
  ~LocalPort() override { fabric_.let_go(*this); }
  LocalPort(const LocalPort&) = delete;
  LocalPort& operator=(const LocalPort&) = delete;

  Rank rank() const noexcept override { return rank_; }
  Rank ranks() const noexcept override { return static_cast<Rank>(fabric_.process_of_.size()); }
  std::uint32_t last_tag() const noexcept override { return Tag::last_number; }
  std::size_t longest_heard() const noexcept override { return longest_packet; }
  bool any_thread() const noexcept override { return false; }  // the fabric is one thread's

  Status send(const void* data, std::size_t bytes, Rank to, std::uint32_t tag,
              Ticket& ticket) noexcept override {
    if (!flights_.take(ticket)) return Status::no_memory;
    flights_[ticket] = {.source = static_cast<const std::byte*>(data), .bytes = bytes};
    if (fabric_.is_out_of_reach(to)) return flights_[ticket].state = State::ended, Status::ok;
    // Whoever hears takes messages of anybody, in the order in which they come.
    const std::uint64_t key = Tag::of(to, tag == 0 ? 0 : rank_, tag);
    return set_off(ticket, key, fabric_.sends_);
  }

  Status receive(void* data, std::size_t bytes, Rank from, std::uint32_t tag,
                 Ticket& ticket) noexcept override {
    if (!flights_.take(ticket)) return Status::no_memory;
    flights_[ticket] = {.target = static_cast<std::byte*>(data), .bytes = bytes};
    return set_off(ticket, Tag::of(rank_, from, tag), fabric_.receives_);
  }

  Status look() noexcept override { return is_broken_ ? Status::failed : Status::ok; }

  Status test(Ticket ticket) noexcept override {
    const State state = flights_[ticket].state;
    if (state == State::under_way) return Status::pending;
    flights_.give_back(ticket);
    return state == State::ended ? Status::ok : Status::failed;
  }

  void abandon(Ticket ticket) noexcept override {
    Flight& flight = flights_[ticket];
    if (flight.state == State::under_way)
      take_out(flight.target ? fabric_.receives_ : fabric_.sends_, flight.key, {this, ticket});
    flights_.give_back(ticket);
  }

  Status listen(std::uint32_t place, void* data, std::size_t bytes) noexcept override {
    Ticket ticket = 0;
    if (!flights_.take(ticket)) return Status::no_memory;
    flights_[ticket] = {.target = static_cast<std::byte*>(data), .bytes = bytes, .place = place};
    return set_off(ticket, Tag::of(rank_, 0, 0), fabric_.receives_);
  }

  bool heard(std::uint32_t& place, Rank& from) noexcept override { return heard_.take(place, from); }

 private:
  friend class LocalFabric;

  enum class State : std::uint8_t { under_way, ended, failed };
  struct Flight {
    State state = State::under_way;
    const std::byte* source = nullptr;
    std::byte* target = nullptr;  ///< one of both
    std::size_t bytes = 0;
    std::uint32_t place = places;  ///< that hears, or none
    std::uint64_t key = 0;         ///< where it waits
  };

  /// Meets what waits on the other side, or waits itself.
  Status set_off(Ticket ticket, std::uint64_t key, Line& own) noexcept {
    Line& other = &own == &fabric_.sends_ ? fabric_.receives_ : fabric_.sends_;
    const Waiting self{this, ticket};
    if (const auto met = other.find(key); met != other.end()) {
      const Waiting peer = met->second;
      other.erase(met);
      &own == &fabric_.sends_ ? deliver(self, peer) : deliver(peer, self);
      return Status::ok;
    }
    flights_[ticket].key = key;
    try {
      own.emplace(key, self);
      return Status::ok;
    } catch (...) {
      flights_.give_back(ticket);
      return Status::no_memory;
    }
  }

  /// One that does not fit is of another build.
  static void deliver(const Waiting& from, const Waiting& to) noexcept {
    Flight& send = from.port->flights_[from.ticket];
    Flight& receive = to.port->flights_[to.ticket];
    const bool fits = send.bytes <= receive.bytes;
    if (fits && send.bytes != 0) copy_bytes(receive.target, send.source, send.bytes);
    send.state = State::ended;
    receive.state = fits ? State::ended : State::failed;
    if (receive.place < places) to.port->hear(to.ticket, from.port->rank_);
  }

  void hear(Ticket ticket, Rank from) noexcept {
    is_broken_ = is_broken_ || flights_[ticket].state == State::failed;
    heard_.add(flights_[ticket].place, from);
    flights_.give_back(ticket);
  }

  static void take_out(Line& line, std::uint64_t key, const Waiting& which) noexcept {
    const auto [first, last] = line.equal_range(key);
    const auto found = std::find_if(first, last, [&](const auto& one) { return one.second == which; });
    if (found != last) line.erase(found);
  }

  LocalFabric& fabric_;
  const Rank rank_;
  transports::mpi::Tickets<Flight> flights_;
  transports::mpi::HeardPlaces heard_;
  bool is_broken_ = false;
};

void LocalFabric::connect(const std::vector<std::vector<std::byte>>&, std::vector<std::uint32_t> process_of) {
  if (process_of.size() > Tag::most_ranks)
    throw Error("a worker process knows " + std::to_string(Tag::most_ranks) + " ranks at most, not " +
                std::to_string(process_of.size()));
  process_of_ = std::move(process_of);
}

std::unique_ptr<Port> LocalFabric::port(Rank self, Rank ranks) {
  if (ranks < 0 || static_cast<std::size_t>(ranks) != process_of_.size() || self < 0 || self >= ranks)
    throw Error("no port for rank " + std::to_string(self) + " of " + std::to_string(ranks));
  own_ = process_of_[static_cast<std::size_t>(self)];
  return std::make_unique<LocalPort>(*this, self);
}

bool LocalFabric::is_out_of_reach(Rank rank) const noexcept {
  return process_of_[static_cast<std::size_t>(rank)] != own_ || std::ranges::find(gone_, rank) != gone_.end();
}

/// What others have sent to it has left them; what it has sent itself is lost.
void LocalFabric::let_go(const LocalPort& port) noexcept {
  const auto is_its_own = [&](const auto& one) { return one.second.port == &port; };
  std::erase_if(receives_, is_its_own);
  std::erase_if(sends_, is_its_own);
  std::erase_if(sends_, [&](const auto& one) {
    if (Tag::receiver(one.first) != port.rank()) return false;
    one.second.port->flights_[one.second.ticket].state = LocalPort::State::ended;
    return true;
  });
  try {
    gone_.push_back(port.rank());
  } catch (...) {
    return;  // no memory for it: what is sent to it waits until its sender gives it up
  }
}

}  // namespace hocket::worker
