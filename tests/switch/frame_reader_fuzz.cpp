// For libFuzzer: whatever comes, in whatever pieces, what the parser gives out is in order, or it refuses.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "switch/wire/frame_reader.hpp"

namespace {

using namespace hocket::wire;

void demand(bool holds) {
  if (!holds) std::abort();
}

void look_at(const Piece& piece, Direction direction) {
  demand(piece.payload.size() == piece.head.bytes && piece.payload.size() <= longest_payload);
  if (piece.head.kind == FrameKind::data) check(piece.head, direction, longest_payload);
}

/// The first byte says which way, and in what pieces.
void read(std::span<const std::uint8_t> data) {
  const Direction direction = (data[0] & 1U) != 0 ? Direction::up : Direction::down;
  const std::size_t step = 1 + data[0] / 2;
  FrameReader reader(direction, 2048);
  for (std::size_t at = 1; at < data.size();) {
    const std::span<std::byte> room = reader.room();
    const std::size_t bytes = std::min({step, data.size() - at, room.size()});
    demand(bytes > 0);
    std::ranges::copy(std::as_bytes(data.subspan(at, bytes)), room.begin());
    reader.came(bytes);
    at += bytes;
    while (const auto piece = reader.next()) look_at(*piece, direction);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    read({data, size});
  } catch (const Malformed&) {
    return 0;
  }
  return 0;
}
