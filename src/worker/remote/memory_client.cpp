#include "worker/remote/memory_client.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hocket::worker::remote {

using transports::Piece;

namespace {

/// The host may have gone.
constexpr long longest_rest_ns = 1'000'000;

}  // namespace

int MemoryClient::read(std::uint32_t desk, std::uint64_t address, Piece target) noexcept {
  return move(FrameKind::read, desk, address, target);
}

int MemoryClient::write(std::uint32_t desk, std::uint64_t address, Piece source) noexcept {
  return move(FrameKind::write, desk, address, source);
}

/// Some pieces at a time. After an error no more are asked for; those on their way are waited for, since they
/// touch this process's memory.
int MemoryClient::move(FrameKind kind, std::uint32_t desk, std::uint64_t address, Piece memory) noexcept try {
  int error = 0;
  while ((memory.bytes != 0 && error == 0) || !requests_.empty()) {
    while (memory.bytes != 0 && error == 0 && requests_.size() < most_pieces) {
      const std::size_t bytes = std::min(memory.bytes, piece_bytes);
      ask(kind, desk, address, {memory.data, bytes});
      memory = {memory.data + bytes, memory.bytes - bytes};
      address += bytes;
    }
    if (!hear()) sleep_until(link_.alarm(), {}, longest_rest_ns);
    if (link_.is_broken()) return give_up();
    if (const int found = collect_ended(); error == 0) error = found;
    beat_();
  }
  return error;
} catch (...) {  // no memory for what has come
  link_.give_up();
  return give_up();
}

/// A receive is posted before the host can send.
void MemoryClient::ask(FrameKind kind, std::uint32_t desk, std::uint64_t address, Piece piece) {
  const bool is_read = kind == FrameKind::read, is_short = piece.bytes <= Frame::longest;
  Request request{.number = link_.new_number(), .piece = piece, .data = {}, .answer = {}, .is_read = is_read};
  Link::Ticket ticket = 0;
  if (is_read && !is_short && link_.receive_data({piece.data, piece.bytes}, request.number, ticket))
    request.data = ticket;
  const FrameHead head{kind, desk, request.number, 0, address, piece.bytes};
  const std::span<const std::byte> inside(piece.data, !is_read && is_short ? piece.bytes : 0);
  link_.send(head, inside);
  if (!is_read && !is_short && link_.send_data({piece.data, piece.bytes}, request.number, ticket))
    request.data = ticket;
  requests_.push_back(request);
}

/// A short read has its data in the answer.
void MemoryClient::note_answer(const Frame& frame) noexcept {
  const auto request = std::ranges::find(requests_, frame.head.number, &Request::number);
  if (request == requests_.end()) return;
  request->answer = static_cast<int>(frame.head.address);
  if (!request->is_read || request->data || request->answer != 0) return;
  if (frame.head.bytes == request->piece.bytes)
    std::memcpy(request->piece.data, frame.payload.data(), request->piece.bytes);
  else
    request->answer = EPROTO;
}

/// As long as it is.
void MemoryClient::keep(const Frame& frame) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&frame);
  kept_.emplace_back(begin, begin + sizeof frame.head + frame.head.bytes);
}

/// True: something has come.
bool MemoryClient::hear() {
  const std::uint64_t before = link_.moved();
  while (const Frame* const frame = link_.next()) {
    if (frame->head.kind == FrameKind::done)
      note_answer(*frame);
    else
      keep(*frame);
  }
  return link_.moved() != before;
}

/// Of a long read that has gone well the data are the answer; of one that has not, nothing comes.
bool MemoryClient::has_ended(Request& request) noexcept {
  if (!request.data) return request.answer.has_value();
  const Link::Ticket ticket = *request.data;
  const Status status = link_.test(ticket);
  if (status == Status::pending && request.answer.value_or(0) == 0) return false;
  request.data.reset();
  if (status == Status::pending)
    link_.abandon(ticket);
  else if (status != Status::ok)
    link_.give_up();
  if (request.is_read && !request.answer) request.answer = 0;
  return request.answer.has_value();
}

/// The first error of those that have ended now.
int MemoryClient::collect_ended() noexcept {
  int error = 0;
  std::erase_if(requests_, [&](Request& request) {
    const bool ended = has_ended(request);
    if (ended && error == 0) error = request.answer.value_or(EPROTO);
    return ended;
  });
  return error;
}

int MemoryClient::give_up() noexcept {
  for (Request& request : requests_)
    if (request.data) link_.abandon(*request.data);
  requests_.clear();
  return EPIPE;
}

const Frame* MemoryClient::next() {
  current_.reset();
  if (kept_.empty()) return link_.next();
  std::memcpy(&current_.emplace(), kept_.front().data(), kept_.front().size());
  kept_.pop_front();
  return &*current_;
}

}  // namespace hocket::worker::remote
