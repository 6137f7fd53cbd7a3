#include "transports/mpi/flights.hpp"

#include <algorithm>
#include <cstring>

#include "base/copy.hpp"

namespace hocket::transports::mpi {

void gather_pieces(std::span<const Piece> pieces, std::byte* to) noexcept {
  for (const Piece& piece : pieces) {
    if (piece.bytes != 0) copy_bytes(to, piece.data, piece.bytes);
    to += piece.bytes;
  }
}

void scatter_pieces(const std::byte* from, std::span<const Piece> pieces) noexcept {
  for (const Piece& piece : pieces) {
    if (piece.bytes != 0) copy_bytes(piece.data, from, piece.bytes);
    from += piece.bytes;
  }
}

std::byte* contiguous(std::span<const Piece> pieces) noexcept {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
  for (const Piece& piece : pieces) {
    if (piece.bytes == 0) continue;
    if (begin && piece.data != end) return nullptr;
    if (!begin) begin = piece.data;
    end = piece.data + piece.bytes;
  }
  return begin;
}

/// How many are under way at the same time differs by a few from call to call of the same program: one at a
/// time, they would still be growing after hundreds of calls.
void Flights::grow() {
  constexpr std::size_t block = 32;
  free_.reserve(flights_.size() + block);  // so that what returns to it needs no memory
  for (std::size_t i = 0; i < block; ++i) {
    flights_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(flights_.size() - 1));
  }
}

std::uint32_t Flights::unused() {
  if (free_.empty()) grow();
  const std::uint32_t index = free_.back();
  free_.pop_back();
  return index;
}

Status Flights::begin(const Route& route, std::span<const Piece> pieces, std::size_t bytes, const void* owner,
                      std::uint32_t& index) noexcept {
  try {
    index = unused();
    std::byte* data = contiguous(pieces);
    if (!data) {
      data = flights_[index].scratch_of(bytes);
      if (!route.receives) gather_pieces(pieces, data);
    }
    return start(route, data, bytes, owner, index);
  } catch (...) {
    return Status::no_memory;
  }
}

Status Flights::begin(const Envelope& envelope, Rank to, std::span<const Piece> pieces, const void* owner,
                      std::uint32_t& index) noexcept {
  try {
    index = unused();
    const std::size_t bytes = sizeof envelope + envelope.bytes;
    std::byte* const packet = flights_[index].scratch_of(packet_bytes);  // for all that come later, too
    std::memcpy(packet, &envelope, sizeof envelope);
    gather_pieces(pieces, packet + sizeof envelope);
    return start({to, 0, false}, packet, bytes, owner, index);
  } catch (...) {
    return Status::no_memory;
  }
}

Status Flights::start(const Route& route, std::byte* data, std::size_t bytes, const void* owner,
                      std::uint32_t index) noexcept {
  Flight& f = flights_[index];
  f.data = data;
  f.bytes = bytes;
  f.done = 0;
  f.peer = route.peer;
  f.tag = route.tag;
  f.receives = route.receives;
  f.owner = owner;
  ++under_way_;
  const Status s = start_part(f);
  if (s != Status::ok) end(index);
  return s;
}

Status Flights::start_part(Flight& f) noexcept {
  f.part = std::min(longest_part_, f.bytes - f.done);
  return f.receives ? port_.receive(f.data + f.done, f.part, f.peer, f.tag, f.ticket)
                    : port_.send(f.data + f.done, f.part, f.peer, f.tag, f.ticket);
}

Status Flights::move_on(Flight& f) noexcept {
  while (f.done < f.bytes) {
    if (const Status s = port_.test(f.ticket); s != Status::ok) return s;
    f.done += f.part;
    if (f.done == f.bytes) break;
    if (const Status s = start_part(f); s != Status::ok) return s;
  }
  return Status::ok;
}

Status Flights::advance(std::uint32_t index, std::span<const Piece> pieces) noexcept {
  Flight& f = flights_[index];
  const Status s = move_on(f);
  if (s == Status::pending) return s;
  if (s == Status::ok && f.receives && f.data == f.scratch.data()) scatter_pieces(f.data, pieces);
  end(index);
  return s;
}

void Flights::end(std::uint32_t index) noexcept {
  flights_[index].owner = nullptr;
  --under_way_;
  free_.push_back(index);
}

void Flights::abandon_all() noexcept {
  for (const Flight& flight : flights_)
    if (flight.owner) abandon(flight.owner);
}

/// The MPI may still read the scratch memory of a send, and does not say until when: nobody gets it again.
void Flights::abandon(const void* owner) noexcept {
  for (std::uint32_t i = 0; i < flights_.size(); ++i) {
    Flight& f = flights_[i];
    if (f.owner != owner) continue;
    port_.abandon(f.ticket);
    if (f.receives || f.data != f.scratch.data()) {
      end(i);
    } else {
      f.owner = nullptr;
      --under_way_;
    }
  }
}

}  // namespace hocket::transports::mpi
