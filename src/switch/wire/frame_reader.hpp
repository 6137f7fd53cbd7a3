// Bytes of a connection in, frames out. What is no frame is found before anything of it is kept. A streaming
// frame need not have come whole: what is there of it is given out as a shorter frame, so that nobody else
// has to know of cut-through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "switch/wire/frames.hpp"

namespace hocket::wire {

/// What no member and no switch says: the connection ends.
class Malformed : public hocket::Error {
 public:
  using hocket::Error::Error;
};

/// Of what a connection brings: up from a member, or down from a switch.
enum class Direction : std::uint8_t { up, down };

/// Bytes of an element; 1 where nothing is combined.
std::uint64_t unit_of(kernels::ElementType type) noexcept;

/// Throws Malformed. `longest_small`: bytes of an operation in small mode.
void check(const FrameHead& head, Direction direction, std::uint32_t longest_small);

/// `head.bytes` is the payload's.
struct Piece {
  FrameHead head;
  std::span<const std::byte> payload;  ///< until the reader is used again
};

class FrameReader {
 public:
  FrameReader(Direction direction, std::uint32_t longest_small)
      : direction_(direction), longest_small_(longest_small), memory_(memory_bytes) {}

  /// Where the next bytes may be put; never empty after next() has found nothing.
  std::span<std::byte> room() noexcept;
  void came(std::size_t bytes) noexcept { end_ += bytes; }
  /// Nothing: not before more has come. Throws Malformed; then it is of no use any more.
  std::optional<Piece> next();

 private:
  /// Two of the longest frames: the kernel hands out what has come in as few calls.
  static constexpr std::size_t memory_bytes = std::size_t{2} * (sizeof(FrameHead) + longest_payload);

  bool begin_frame();

  const Direction direction_;
  const std::uint32_t longest_small_;
  std::vector<std::byte> memory_;
  std::size_t begin_ = 0, end_ = 0;  ///< of what has come and has not been given out
  bool is_open_ = false;             ///< a frame has begun
  FrameHead open_;                   ///< of it, with what is left
};

}  // namespace hocket::wire
