#include "switch/sockets/outbox.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace hocket::aggregation {

namespace {

using wire::FrameHead;

/// Pieces of memory that one call of the kernel sends.
class Pieces {
 public:
  bool is_full() const noexcept { return count_ == pieces_.size(); }
  /// Without what has been sent before, of which `skip` says how much is left.
  void add(const void* data, std::size_t bytes, std::size_t& skip) noexcept {
    const std::size_t skipped = std::min(skip, bytes);
    skip -= skipped;
    if (skipped == bytes || is_full()) return;
    // sendmsg reads only, though its interface does not say so
    pieces_[count_++] = {const_cast<char*>(static_cast<const char*>(data)) + skipped, bytes - skipped};
  }
  ssize_t send(const Descriptor& connection) noexcept {
    msghdr message{};
    message.msg_iov = pieces_.data();
    message.msg_iovlen = count_;
    return sendmsg(connection.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

 private:
  std::array<iovec, 64> pieces_;
  std::size_t count_ = 0;
};

bool is_same_operation(const FrameHead& one, const FrameHead& other) noexcept {
  return one.kind == wire::FrameKind::data && other.kind == one.kind && one.flags == other.flags &&
         (one.flags & wire::streaming) != 0 && one.group == other.group && one.operation == other.operation;
}

}  // namespace

bool Outbox::extend_last(const FrameHead& head, const Slice& payload) {
  const bool has_begun = frames_.size() == 1 && sent_ > 0;
  if (frames_.empty() || has_begun || !is_same_operation(frames_.back().head, head)) return false;
  Frame& last = frames_.back();
  if ((head.flags & wire::hollow) != 0) {
    last.head.offset = head.offset;
    return true;
  }
  if (last.head.offset + last.head.bytes != head.offset ||
      last.head.bytes + head.bytes > wire::longest_payload)
    return false;
  last.head.bytes += head.bytes;
  last.payload.push_back(payload);
  return true;
}

void Outbox::add(FrameHead head, const Slice& payload) {
  head.bytes = static_cast<std::uint32_t>(payload.data.size());
  if (extend_last(head, payload)) return;
  Frame& frame = frames_.emplace_back(Frame{head, {}});
  if (!payload.data.empty()) frame.payload.push_back(payload);
}

void Outbox::drop(std::size_t bytes) {
  sent_ += bytes;
  while (!frames_.empty() && sent_ >= frames_.front().bytes()) {
    sent_ -= frames_.front().bytes();
    frames_.pop_front();
  }
}

bool Outbox::flush(const Descriptor& connection, std::uint64_t& sent) {
  while (!frames_.empty()) {
    Pieces pieces;
    std::size_t skip = sent_;
    for (auto frame = frames_.begin(); frame != frames_.end() && !pieces.is_full(); ++frame) {
      pieces.add(&frame->head, sizeof frame->head, skip);
      for (const Slice& slice : frame->payload) pieces.add(slice.data.data(), slice.data.size(), skip);
    }
    const ssize_t bytes = pieces.send(connection);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    sent += static_cast<std::uint64_t>(bytes);
    drop(static_cast<std::size_t>(bytes));
  }
  return true;
}

}  // namespace hocket::aggregation
