#include "interpose/plugin/network/mpi_port.hpp"

#include <algorithm>
#include <utility>

#include "interpose/plugin/host.hpp"
#include "interpose/plugin/requests/hooks.hpp"

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
  std::fill(std::begin(listening_), std::end(listening_), null().request);
}

MpiPort::~MpiPort() {
  for (MPI_Request& request : listening_) {
    if (request == null().request) continue;
    host().Cancel(&request);
    MPI_Status status;
    host().Wait(&request, &status);
  }
}

bool MpiPort::take_ticket(Ticket& ticket) noexcept {
  try {
    if (free_.empty()) {
      requests_.push_back(null().request);
      receives_.push_back(false);
      free_.reserve(requests_.size());  // so that giving back needs no memory
      free_.push_back(static_cast<Ticket>(requests_.size() - 1));
    }
    ticket = free_.back();
    free_.pop_back();
    return true;
  } catch (...) {
    return false;
  }
}

Status MpiPort::started(int result, Ticket ticket) noexcept {
  if (result == MPI_SUCCESS) return Status::ok;
  give_back(ticket);
  return Status::failed;
}

Status MpiPort::send(const void* data, std::size_t bytes, Rank to, std::uint32_t tag,
                     Ticket& ticket) noexcept {
  const WithoutHook alone;
  if (!take_ticket(ticket)) return Status::no_memory;
  receives_[ticket] = false;
  return started(host().Isend(data, static_cast<int>(bytes), byte_, to, static_cast<int>(tag), comm_,
                              &requests_[ticket]),
                 ticket);
}

Status MpiPort::receive(void* data, std::size_t bytes, Rank from, std::uint32_t tag,
                        Ticket& ticket) noexcept {
  const WithoutHook alone;
  if (!take_ticket(ticket)) return Status::no_memory;
  receives_[ticket] = true;
  return started(host().Irecv(data, static_cast<int>(bytes), byte_, from, static_cast<int>(tag), comm_,
                              &requests_[ticket]),
                 ticket);
}

Status MpiPort::test(Ticket ticket) noexcept {
  const WithoutHook alone;
  int done = 0;
  MPI_Status status;
  const int result = host().Test(&requests_[ticket], &done, &status);
  if (result == MPI_SUCCESS && !done) return Status::pending;
  give_back(ticket);
  return result == MPI_SUCCESS ? Status::ok : Status::failed;
}

/// A send cannot be called back: the MPI keeps what it needs of it.
void MpiPort::abandon(Ticket ticket) noexcept {
  const WithoutHook alone;
  MPI_Request& request = requests_[ticket];
  if (receives_[ticket]) {
    MPI_Status status;
    host().Cancel(&request);
    host().Wait(&request, &status);
  } else {
    host().Request_free(&request);
  }
  give_back(ticket);
}

Status MpiPort::listen(std::uint32_t place, void* data, std::size_t bytes) noexcept {
  if (probes) {
    offered_[place] = {data, bytes};
    return Status::ok;
  }
  const WithoutHook alone;
  const int result =
      host().Irecv(data, static_cast<int>(bytes), byte_, MPI_ANY_SOURCE, 0, comm_, &listening_[place]);
  return result == MPI_SUCCESS ? Status::ok : Status::failed;
}

Status MpiPort::heard(std::uint32_t& place, Rank& from) noexcept {
  const WithoutHook alone;
  return probes ? probe(place, from) : test_any(place, from);
}

Status MpiPort::test_any(std::uint32_t& place, Rank& from) noexcept {
  int index = 0, done = 0;
  MPI_Status status;
  if (host().Testany(places, listening_, &index, &done, &status) != MPI_SUCCESS) return Status::failed;
  if (!done || index == MPI_UNDEFINED) return Status::pending;
  place = static_cast<std::uint32_t>(index);
  from = status.MPI_SOURCE;
  return Status::ok;
}

/// What is heard goes to any place that is offered. It is short, so that it is there at once.
Status MpiPort::probe(std::uint32_t& place, Rank& from) noexcept {
  int done = 0;
  MPI_Status status;
  MPI_Message message;
  if (host().Improbe(MPI_ANY_SOURCE, 0, comm_, &done, &message, &status) != MPI_SUCCESS)
    return Status::failed;
  if (!done) return Status::pending;
  Offer* offer = std::ranges::find_if(offered_, [](const Offer& o) { return o.data != nullptr; });
  if (offer == std::end(offered_)) return Status::failed;
  place = static_cast<std::uint32_t>(offer - std::begin(offered_));
  from = status.MPI_SOURCE;
  void* const data = std::exchange(offer->data, nullptr);
  const int result = host().Mrecv(data, static_cast<int>(offer->bytes), byte_, &message, &status);
  return result == MPI_SUCCESS ? Status::ok : Status::failed;
}

}  // namespace hocket::interpose
