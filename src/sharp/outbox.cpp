#include "sharp/outbox.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace hocket::sharp {

void Outbox::Waiting::copy_payload() {
  if (copy || frame.payload.empty()) return;
  copy = std::make_unique_for_overwrite<std::byte[]>(frame.payload.size());
  std::ranges::copy(frame.payload, copy.get());
  frame.payload = {copy.get(), frame.payload.size()};
}

void Outbox::add(const OutgoingFrame& frame) {
  frames_.push_back({frame, nullptr});
}

void Outbox::add_copy(wire::FrameHead head, std::span<const std::byte> payload) {
  head.bytes = static_cast<std::uint32_t>(payload.size());
  frames_.push_back({{head, payload}, nullptr});
  frames_.back().copy_payload();
}

void Outbox::keep(std::uint32_t group) {
  for (Waiting& waiting : frames_)
    if (waiting.frame.head.group == group) waiting.copy_payload();
}

Outbox::Outcome Outbox::send(const Descriptor& connection) {
  while (!frames_.empty()) {
    std::array<iovec, 2 * most_frames> pieces;
    std::size_t count = 0, skipped = sent_;
    const auto add_piece = [&](const void* data, std::size_t bytes) {
      const std::size_t left_out = std::min(skipped, bytes);
      skipped -= left_out;
      if (left_out < bytes)
        pieces[count++] = {const_cast<std::byte*>(static_cast<const std::byte*>(data)) + left_out,
                           bytes - left_out};
    };
    for (std::size_t i = 0; i < std::min(frames_.size(), most_frames); ++i) {
      add_piece(&frames_[i].frame.head, sizeof(wire::FrameHead));
      add_piece(frames_[i].frame.payload.data(), frames_[i].frame.payload.size());
    }
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = count;
    const ssize_t sent = sendmsg(connection.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? Outcome::some_left : Outcome::closed;
    forget(static_cast<std::size_t>(sent));
  }
  return Outcome::all_sent;
}

void Outbox::forget(std::size_t sent) noexcept {
  sent_ += sent;
  while (!frames_.empty() && sent_ >= frames_.front().bytes()) {
    sent_ -= frames_.front().bytes();
    frames_.pop_front();
  }
}

}  // namespace hocket::sharp
