// What goes over the link between a rank's machine (the host) and the worker that serves it from another
// processor. Both are of one build, on machines that lay values out alike, so it goes as it lies in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "worker/fabric.hpp"

namespace hocket::worker::remote {

enum class FrameKind : std::uint32_t {
  // from the host
  welcome,   ///< a rank has come to `desk`: `number` is its rank, `address` its process
  commands,  ///< the next bytes of what it tells
  ended,     ///< its process has; all that it has told has come
  done,      ///< a read or write of memory, `number`: `address` is its errno; short data of a read follow
  farewell,  ///< no rank is left, and none will come
  // from the worker
  taken,      ///< of what the rank at `desk` has told, `length` bytes more
  completed,  ///< operation `number` of that rank: `address` is its Status
  words,      ///< why it fails
  given_up,   ///< the rank has said what no rank says
  read,    ///< `length` bytes of its memory from `address` on: as data `number`, or, if short, in the answer
  write,   ///< the other way; short data follow
  share,   ///< an engine::SharedRange, of which the rank has said that it may be mapped
  forget,  ///< all such ranges
  connected,  ///< the workers of all nodes know each other
  beat,       ///< the worker is well, as all that it says tells
};

/// What both sides of one link know, and who can only reach their network does not.
using LinkWord = std::array<char, 32>;

struct FrameHead {
  FrameKind kind = FrameKind::beat;
  std::uint32_t desk = 0;
  std::uint32_t number = 0;
  std::uint32_t bytes = 0;  ///< that follow
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  // of the link
  std::uint64_t sequence = 0;  ///< of the frame, from 1 on
  LinkWord word{};
};

struct Frame {
  static constexpr std::size_t bytes = longest_packet;
  static constexpr std::size_t longest = bytes - sizeof(FrameHead);
  FrameHead head;
  std::array<std::byte, longest> payload;

  std::span<const std::byte> data() const noexcept { return std::span(payload).first(head.bytes); }
};
static_assert(sizeof(Frame) == Frame::bytes);

/// Longer data of a rank's memory go in pieces of so much, each under a number of its own.
inline constexpr std::size_t piece_bytes = std::size_t{512} << 10U;
/// On their way at a time: the next is copied while one is sent.
inline constexpr std::size_t most_pieces = 4;

}  // namespace hocket::worker::remote
