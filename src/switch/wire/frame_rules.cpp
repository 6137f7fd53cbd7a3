// What a frame's head may say, whoever sends it. What it may say at that time is the groups' affair.
#include "switch/wire/frame_reader.hpp"

namespace hocket::wire {

namespace {

void demand(bool holds, const char* what) {
  if (!holds) throw Malformed(what);
}

bool has(const FrameHead& head, Flag flag) noexcept {
  return (head.flags & flag) != 0;
}

/// Of each kind but data.
bool is_length(const FrameHead& head) noexcept {
  switch (head.kind) {
    case FrameKind::join:
      return head.bytes == sizeof(Join);
    case FrameKind::lock:
      return head.bytes == 0 || head.bytes == sizeof(Verdict);
    case FrameKind::leave:
    case FrameKind::unlock:
      return head.bytes == 0;
    case FrameKind::failed:
      return head.bytes == sizeof(Failure);
    case FrameKind::joined:
      return head.bytes == sizeof(Joined);
    case FrameKind::locked:
      return head.bytes == sizeof(Verdict);
    case FrameKind::data:
      break;
  }
  return false;
}

bool goes(FrameKind kind, Direction direction) noexcept {
  switch (kind) {
    case FrameKind::join:
    case FrameKind::leave:
    case FrameKind::lock:
    case FrameKind::unlock:
      return direction == Direction::up;
    case FrameKind::data:
    case FrameKind::failed:
      return true;
    case FrameKind::joined:
    case FrameKind::locked:
      return direction == Direction::down;
  }
  return false;
}

void check_flags(const FrameHead& head, Direction direction) {
  const unsigned known =
      direction == Direction::up ? contributes | wants | streaming | hollow : streaming | hollow;
  demand((head.flags & ~known) == 0, "unknown flags");
  if (direction == Direction::up)
    demand(has(head, contributes) != has(head, hollow), "who contributes sends payload, and nobody else");
}

/// No sum of theirs is made before it is known to be in range.
void check_range(const FrameHead& head) {
  demand(head.type <= kernels::ElementType::none, "an unknown type");
  demand(head.op <= kernels::OpKind::none, "an unknown op");
  const std::uint64_t unit = unit_of(head.type);
  demand(head.total % unit == 0 && head.offset % unit == 0 && head.bytes % unit == 0, "parts of elements");
  demand(head.offset <= head.total && head.bytes <= head.total - head.offset, "bytes beyond the operation");
}

void check_small(const FrameHead& head, std::uint32_t longest) {
  demand(head.total <= longest, "an operation too long for small mode");
  demand(has(head, hollow) ? head.offset == head.total : head.bytes == head.total,
         "a part of an operation in small mode");
}

void check_data(const FrameHead& head, Direction direction, std::uint32_t longest_small) {
  check_flags(head, direction);
  check_range(head);
  if (has(head, hollow))
    demand(head.bytes == 0 && (head.offset > 0 || head.total == 0), "a hollow frame that says nothing");
  else
    demand(head.bytes > 0 || head.total == 0, "a frame without payload");
  if (!has(head, streaming)) check_small(head, longest_small);
  demand(head.bytes <= longest_payload, "a payload that is too long");
}

}  // namespace

std::uint64_t unit_of(kernels::ElementType type) noexcept {
  return type < kernels::ElementType::none ? kernels::element_size(type) : 1;
}

void check(const FrameHead& head, Direction direction, std::uint32_t longest_small) {
  demand(goes(head.kind, direction), "an unknown kind of frame");
  demand(head.group != 0 || head.kind == FrameKind::failed, "no group");
  if (head.kind == FrameKind::data)
    check_data(head, direction, longest_small);
  else
    demand(is_length(head), "a length that its kind does not have");
}

}  // namespace hocket::wire
