#include "sharp/operations.hpp"

#include <algorithm>

namespace hocket::sharp {

namespace {

/// A frame and a wake-up are not worth less, unless it is the end.
constexpr std::uint64_t least_worth_sending = std::uint64_t{16} << 10U;

std::uint8_t flags_of(const Part& part, bool streams) noexcept {
  unsigned flags = 0;
  if (part.source) flags |= wire::contributes;
  if (!part.source) flags |= wire::hollow;
  if (part.target) flags |= wire::wants;
  if (streams) flags |= wire::streaming;
  return static_cast<std::uint8_t>(flags);
}

}  // namespace

void Operations::start(Request& request, const Part& part, bool streams) {
  operations_.push_back({.number = next_number_++, .request = &request, .part = part, .streams = streams});
  ++outstanding_[streams ? 1 : 0];
  ++request.running;
}

std::optional<OutgoingFrame> Operations::next_frame() noexcept {
  bool is_stream_busy = false;  // one streaming operation after the other
  for (Operation& operation : operations_) {
    if (operation.is_sent() || (operation.streams && is_stream_busy)) continue;
    is_stream_busy |= operation.streams;
    const std::uint64_t length = length_of_next(operation);
    if (length > 0 || operation.part.bytes == 0) return frame_of(operation, length);
  }
  return std::nullopt;
}

std::uint64_t Operations::length_of_next(const Operation& operation) const noexcept {
  const std::uint64_t rest = operation.part.bytes - operation.sent;
  if (!operation.streams) return rest;
  const std::uint64_t room = window_ - std::min(ahead_, window_);
  if (room < std::min(rest, std::min(least_worth_sending, window_ / 2))) return 0;
  if (!operation.part.source) return room < rest && room < window_ / 2 ? 0 : std::min(rest, room);
  const std::uint64_t length = std::min({rest, room, std::uint64_t{wire::longest_payload}});
  return length - length % operation.request->reduction.element_size();
}

OutgoingFrame Operations::frame_of(Operation& operation, std::uint64_t length) noexcept {
  const Part& part = operation.part;
  OutgoingFrame frame;
  frame.head.kind = wire::FrameKind::data;
  frame.head.flags = flags_of(part, operation.streams);
  frame.head.type = operation.request->reduction.type;
  frame.head.op = operation.request->reduction.op;
  frame.head.group = group_;
  frame.head.operation = operation.number;
  frame.head.total = part.bytes;
  if (part.source) {
    frame.head.offset = operation.sent;
    frame.head.bytes = static_cast<std::uint32_t>(length);
    frame.payload = {part.source + operation.sent, static_cast<std::size_t>(length)};
  } else {
    frame.head.offset = operation.sent + length;  // up to where nothing will come
  }
  operation.sent += length;
  operation.is_announced = true;
  if (operation.streams) ahead_ += length;
  return frame;
}

/// Numbers without gaps make the place.
Operations::Operation* Operations::find(std::uint32_t number) noexcept {
  if (operations_.empty()) return nullptr;
  const std::uint32_t index = number - operations_.front().number;
  if (index >= operations_.size() || operations_[index].is_over) return nullptr;
  return &operations_[index];
}

bool Operations::expects(const wire::FrameHead& head) noexcept {
  const Operation* const operation = find(head.operation);
  if (!operation || !operation->is_announced || head.total != operation->part.bytes) return false;
  const bool is_hollow = (head.flags & wire::hollow) != 0;
  if (is_hollow != (operation->part.target == nullptr) || is_hollow != (head.bytes == 0)) return false;
  if (is_hollow) return head.offset >= operation->got && head.offset <= operation->sent;
  return head.offset == operation->got && head.offset + head.bytes <= operation->sent;
}

std::byte* Operations::place(const wire::FrameHead& head, std::size_t done) noexcept {
  const Operation* const operation = find(head.operation);
  return operation ? operation->part.target + head.offset + done : nullptr;
}

std::uint64_t Operations::got(std::uint32_t number) noexcept {
  const Operation* const operation = find(number);
  return operation ? operation->got : 0;
}

Request* Operations::over(std::uint32_t number, std::uint64_t up_to) noexcept {
  Operation* const operation = find(number);
  if (!operation) return nullptr;
  if (operation->streams) ahead_ -= up_to - operation->got;
  operation->got = up_to;
  if (up_to < operation->part.bytes) return nullptr;
  operation->is_over = true;
  --outstanding_[operation->streams ? 1 : 0];
  Request* const request = operation->request;
  --request->running;
  while (!operations_.empty() && operations_.front().is_over) operations_.pop_front();
  return request;
}

std::set<Request*> Operations::give_up() {
  std::set<Request*> requests;
  for (const Operation& operation : operations_)
    if (!operation.is_over) requests.insert(operation.request);
  operations_.clear();
  outstanding_[0] = outstanding_[1] = 0;
  ahead_ = 0;
  return requests;
}

}  // namespace hocket::sharp
