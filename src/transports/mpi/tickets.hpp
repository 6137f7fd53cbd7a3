// What a port keeps of each send and receive under way, by its ticket.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "transports/mpi/port.hpp"

namespace hocket::transports::mpi {

template <class Flight>
class Tickets {
 public:
  using Ticket = Port::Ticket;

  /// False: no memory.
  bool take(Ticket& ticket) noexcept {
    try {
      if (are_all_taken()) grow();
    } catch (...) {
      return false;
    }
    ticket = free_.back();
    free_.pop_back();
    return true;
  }
  void give_back(Ticket ticket) noexcept { free_.push_back(ticket); }

  Flight& operator[](Ticket ticket) noexcept { return flights_[ticket]; }
  /// Of those that have been taken at some time.
  std::size_t size() const noexcept { return flights_.size(); }

  /// The next one makes more: as many as there are, so that a program comes soon to where nothing is
  /// allocated.
  bool are_all_taken() const noexcept { return free_.empty(); }
  std::size_t next_size() const noexcept { return std::max<std::size_t>(2 * flights_.size(), 32); }

 private:
  void grow() {
    const std::size_t before = flights_.size(), after = next_size();
    free_.reserve(after);
    flights_.resize(after);
    for (std::size_t ticket = after; ticket-- > before;) free_.push_back(static_cast<Ticket>(ticket));
  }

  std::vector<Flight> flights_;
  std::vector<Ticket> free_;
};

}  // namespace hocket::transports::mpi
