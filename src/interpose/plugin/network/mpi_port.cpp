#include "interpose/plugin/network/mpi_port.hpp"

#include <utility>

#include "interpose/plugin/host.hpp"
#include "interpose/plugin/requests/hooks.hpp"
#include "transports/mpi/envelope.hpp"

// The network's lock is held in all of these calls.

namespace hocket::interpose {

MpiPort::MpiPort(MPI_Comm comm) : comm_(comm), byte_(MPI_BYTE) {
  host().Comm_rank(comm_, &rank_);
  host().Comm_size(comm_, &ranks_);
  void* last = nullptr;
  int known = 0;
  if (host().Comm_get_attr(comm_, MPI_TAG_UB, &last, &known) == MPI_SUCCESS && known)
    last_tag_ = static_cast<std::uint32_t>(*static_cast<int*>(last));
  int level = MPI_THREAD_SINGLE;
  any_thread_ = host().Query_thread(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE;
  requests_.assign(listeners, null().request);
  tickets_.assign(listeners, 0);
  found_.resize(listeners);
  statuses_.resize(listeners);
}

MpiPort::~MpiPort() {
  for (std::uint32_t place = 0; place < listeners; ++place) {
    if (requests_[place] == null().request) continue;
    host().Cancel(&requests_[place]);
    MPI_Status status;
    host().Wait(&requests_[place], &status);
  }
}

/// What a probe has found is received at once, and must not have to wait for its sender.
std::size_t MpiPort::longest_heard() const noexcept {
  return probes ? transports::mpi::unattended_bytes : transports::mpi::packet_bytes;
}

/// Room for what is said of each.
void MpiPort::grow() {
  const std::size_t after = listeners + flights_.next_size();
  requests_.reserve(after);
  tickets_.reserve(after);
  found_.resize(after);
  statuses_.resize(after);
}

bool MpiPort::take_ticket(Ticket& ticket) noexcept {
  try {
    if (flights_.are_all_taken()) grow();
  } catch (...) {
    return false;
  }
  return flights_.take(ticket);
}

void MpiPort::set_off(Ticket ticket, MPI_Request request, bool receives) noexcept {
  flights_[ticket] = {Flight::State::under_way, receives, static_cast<std::uint32_t>(requests_.size())};
  requests_.push_back(request);  // there is memory for them since there is for the ticket
  tickets_.push_back(ticket);
}

/// A short message has mostly left already: then nobody needs to ask about it.
Status MpiPort::send(const void* data, std::size_t bytes, Rank to, std::uint32_t tag,
                     Ticket& ticket) noexcept {
  const WithoutHook alone;
  if (!take_ticket(ticket)) return Status::no_memory;
  MPI_Request request;
  int result = host().Isend(data, static_cast<int>(bytes), byte_, to, static_cast<int>(tag), comm_, &request);
  int has_left = 0;
  MPI_Status status;
  if (result == MPI_SUCCESS && bytes <= transports::mpi::packet_bytes)
    result = host().Test(&request, &has_left, &status);
  if (result != MPI_SUCCESS) return flights_.give_back(ticket), Status::failed;
  if (has_left)
    flights_[ticket].state = Flight::State::complete;
  else
    set_off(ticket, request, false);
  return Status::ok;
}

Status MpiPort::receive(void* data, std::size_t bytes, Rank from, std::uint32_t tag,
                        Ticket& ticket) noexcept {
  const WithoutHook alone;
  if (!take_ticket(ticket)) return Status::no_memory;
  MPI_Request request;
  const int result =
      host().Irecv(data, static_cast<int>(bytes), byte_, from, static_cast<int>(tag), comm_, &request);
  if (result != MPI_SUCCESS) return flights_.give_back(ticket), Status::failed;
  set_off(ticket, request, true);
  return Status::ok;
}

Status MpiPort::test(Ticket ticket) noexcept {
  const Flight::State state = flights_[ticket].state;
  if (state == Flight::State::under_way) return Status::pending;
  flights_.give_back(ticket);
  return state == Flight::State::complete ? Status::ok : Status::failed;
}

/// A send cannot be called back: the MPI keeps what it needs of it.
void MpiPort::abandon(Ticket ticket) noexcept {
  const WithoutHook alone;
  Flight& flight = flights_[ticket];
  if (flight.state == Flight::State::under_way) {
    MPI_Request& request = requests_[flight.at];
    if (flight.receives) {
      MPI_Status status;
      host().Cancel(&request);
      host().Wait(&request, &status);
    } else {
      host().Request_free(&request);
    }
    flight.state = Flight::State::complete;
    forget_complete();
  }
  flights_.give_back(ticket);
}

/// Only what is under way stays among what the MPI is asked about.
void MpiPort::forget_complete() noexcept {
  std::uint32_t kept = listeners;
  for (std::uint32_t at = listeners; at < requests_.size(); ++at) {
    Flight& flight = flights_[tickets_[at]];
    if (flight.state != Flight::State::under_way) continue;
    flight.at = kept;
    requests_[kept] = requests_[at];
    tickets_[kept++] = tickets_[at];
  }
  requests_.resize(kept);
  tickets_.resize(kept);
}

Status MpiPort::listen(std::uint32_t place, void* data, std::size_t bytes) noexcept {
  if (probes) {
    offered_[place] = {data, bytes};
    return Status::ok;
  }
  const WithoutHook alone;
  const int result =
      host().Irecv(data, static_cast<int>(bytes), byte_, MPI_ANY_SOURCE, 0, comm_, &requests_[place]);
  return result == MPI_SUCCESS ? Status::ok : Status::failed;
}

bool MpiPort::heard(std::uint32_t& place, Rank& from) noexcept {
  return heard_.take(place, from);
}

Status MpiPort::look() noexcept {
  const WithoutHook alone;
  int found = 0;
  if (const Status s = test_some(found); s != Status::ok) return s;
  // Open MPI answers with what it knew, and goes on afterwards.
  if (goes_on_last && found == 0)
    if (const Status s = test_some(found); s != Status::ok) return s;
  if (probes)
    if (const Status s = probe(); s != Status::ok) return s;
  return found > 0 || heard_.count() > 0 ? Status::ok : Status::pending;
}

Status MpiPort::test_some(int& found) noexcept {
  if (requests_.empty()) return Status::ok;
  const int result = host().Testsome(static_cast<int>(requests_.size()), requests_.data(), &found,
                                     found_.data(), statuses_.data());
  if (found == MPI_UNDEFINED) found = 0;
  bool is_one_to_blame = false, is_a_listener = false;
  for (int i = 0; i < found; ++i) {
    const auto at = static_cast<std::uint32_t>(found_[static_cast<std::size_t>(i)]);
    const MPI_Status& answer = statuses_[static_cast<std::size_t>(i)];
    const bool failed = result != MPI_SUCCESS && answer.MPI_ERROR != MPI_SUCCESS;
    if (at >= listeners) {
      flights_[tickets_[at]].state = failed ? Flight::State::failed : Flight::State::complete;
      is_one_to_blame |= failed;
    } else if (failed) {
      is_a_listener = true;
    } else {
      heard_.add(at, answer.MPI_SOURCE);
    }
  }
  if (found > 0) forget_complete();
  return result == MPI_SUCCESS || (is_one_to_blame && !is_a_listener) ? Status::ok : Status::failed;
}

/// What has come goes to any place that is offered. It is short, so that it is there at once.
Status MpiPort::probe() noexcept {
  for (std::uint32_t place = 0; place < places; ++place) {
    Offer& offer = offered_[place];
    if (!offer.data) continue;
    int done = 0;
    MPI_Status status;
    MPI_Message message;
    if (host().Improbe(MPI_ANY_SOURCE, 0, comm_, &done, &message, &status) != MPI_SUCCESS)
      return Status::failed;
    if (!done) return Status::ok;
    void* const data = std::exchange(offer.data, nullptr);
    const Rank from = status.MPI_SOURCE;
    if (host().Mrecv(data, static_cast<int>(offer.bytes), byte_, &message, &status) != MPI_SUCCESS)
      return Status::failed;
    heard_.add(place, from);
  }
  return Status::ok;
}

}  // namespace hocket::interpose
