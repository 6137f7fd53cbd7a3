// The memory of a message, which lies in pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "transports/transport.hpp"

namespace hocket::transports {

/// Calls use(piece) for what the pieces hold of a message's bytes [from, from + bytes), until that says no.
/// False: it did.
template <class Use>
bool walk_pieces(std::span<const Piece> pieces, std::size_t from, std::size_t bytes, Use use) noexcept {
  for (const Piece& piece : pieces) {
    if (bytes == 0) return true;
    if (from >= piece.bytes) {
      from -= piece.bytes;
      continue;
    }
    const std::size_t here = std::min(piece.bytes - from, bytes);
    if (!use(Piece{piece.data + from, here})) return false;
    bytes -= here;
    from = 0;
  }
  return true;
}

}  // namespace hocket::transports
