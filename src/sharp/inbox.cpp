#include "sharp/inbox.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hocket::sharp {

Inbox::Outcome Inbox::receive(const Descriptor& connection, FrameReader& reader) noexcept {
  Outcome outcome = Outcome::nothing;
  for (int reads = 0; reads < most_reads; ++reads) {
    const std::ptrdiff_t got = read_from(connection, reader);
    if (got == 0) return Outcome::closed;
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? outcome : Outcome::closed;
    outcome = Outcome::news;
    if (!consume(reader)) return Outcome::closed;
  }
  return outcome;
}

/// consume() leaves less than a head in the buffer, and nothing amid data.
std::ptrdiff_t Inbox::read_from(const Descriptor& connection, FrameReader& reader) noexcept {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  std::byte* const place = is_amid_data() && missing() > 0 ? reader.place(head_, done_) : nullptr;
  const std::size_t straight = place ? missing() : 0;
  const iovec pieces[] = {{place, straight}, {buffer_.data() + end_, buffer_.size() - end_}};
  const ssize_t got = readv(connection.number(), pieces, 2);
  if (got <= 0) return got;
  const std::size_t landed = std::min(straight, static_cast<std::size_t>(got));
  end_ += static_cast<std::size_t>(got) - landed;
  if (landed > 0) {
    done_ += landed;
    reader.landed(head_, landed);
  }
  return got;
}

std::span<const std::byte> Inbox::take_out(std::size_t most) noexcept {
  const std::span<const std::byte> taken = unread().first(std::min(most, end_ - begin_));
  begin_ += taken.size();
  return taken;
}

bool Inbox::consume(FrameReader& reader) noexcept {
  while (has_head_ || end_ - begin_ >= sizeof head_) {
    if (!has_head_ && !begin_frame(reader)) return false;
    go_on(reader);
    if (missing() > 0) return true;
    end_frame(reader);
  }
  return true;
}

bool Inbox::begin_frame(FrameReader& reader) noexcept {
  std::memcpy(&head_, take_out(sizeof head_).data(), sizeof head_);
  has_head_ = true;
  done_ = 0;
  return head_.bytes <= (is_amid_data() ? wire::longest_payload : longest_note) && reader.begins(head_);
}

void Inbox::go_on(FrameReader& reader) noexcept {
  const std::span<const std::byte> piece = take_out(missing());
  if (piece.empty()) return;
  std::byte* const place = is_amid_data() ? reader.place(head_, done_) : note_.data() + done_;
  if (place) std::memcpy(place, piece.data(), piece.size());
  done_ += piece.size();
  if (is_amid_data() && place) reader.landed(head_, piece.size());
}

void Inbox::end_frame(FrameReader& reader) noexcept {
  has_head_ = false;
  if (head_.kind != wire::FrameKind::data || head_.bytes == 0)
    reader.take(head_, std::span(note_).first(head_.bytes));
}

}  // namespace hocket::sharp
