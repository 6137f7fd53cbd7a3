#include "switch/wire/frame_reader.hpp"

#include <algorithm>
#include <cstring>

namespace hocket::wire {

namespace {

/// Used as it comes; everything else is short, and waited for.
bool is_cut_through(const FrameHead& head) noexcept {
  return head.kind == FrameKind::data && (head.flags & streaming) != 0;
}

}  // namespace

/// What is left is less than a frame in small mode, so moving it costs little.
std::span<std::byte> FrameReader::room() noexcept {
  std::memmove(memory_.data(), memory_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  return std::span(memory_).subspan(end_);
}

bool FrameReader::begin_frame() {
  if (end_ - begin_ < sizeof(FrameHead)) return false;
  std::memcpy(&open_, memory_.data() + begin_, sizeof open_);
  check(open_, direction_, longest_small_);
  begin_ += sizeof open_;
  is_open_ = true;
  return true;
}

std::optional<Piece> FrameReader::next() {
  if (!is_open_ && !begin_frame()) return {};
  std::size_t bytes = std::min<std::size_t>(open_.bytes, end_ - begin_);
  if (bytes < open_.bytes) {
    if (!is_cut_through(open_)) return {};
    bytes -= bytes % unit_of(open_.type);
    if (bytes == 0) return {};
  }
  Piece piece{open_, std::span(memory_).subspan(begin_, bytes)};
  piece.head.bytes = static_cast<std::uint32_t>(bytes);
  begin_ += bytes;
  open_.bytes -= piece.head.bytes;
  open_.offset += bytes;
  is_open_ = open_.bytes > 0;
  return piece;
}

}  // namespace hocket::wire
