#include "interpose/plugin/packing.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "interpose/plugin/host.hpp"

namespace hocket::interpose {
namespace {

// MPI_Pack counts bytes in int: more is done in pieces of whole elements.
std::size_t piece_of(const Type& type) {
  return std::max<std::size_t>(1, INT_MAX / std::max<std::size_t>(1, type.size));
}

template <class Function>
void by_pieces(const Elements& elements, Function function) {
  const std::size_t piece = piece_of(elements.type);
  for (std::size_t done = 0; done < elements.count; done += piece)
    function(done, static_cast<int>(std::min(piece, elements.count - done)));
}

}  // namespace

void pack(const void* from, const Elements& elements, void* to) {
  const Type& type = elements.type;
  if (type.plain) {
    std::memcpy(to, from, elements.bytes());
    return;
  }
  by_pieces(elements, [&](std::size_t done, int count) {
    const int bytes = static_cast<int>(static_cast<std::size_t>(count) * type.size);
    int position = 0;
    const auto* source =
        static_cast<const std::byte*>(from) + static_cast<std::ptrdiff_t>(done) * type.extent;
    host().Pack(source, count, type.handle, static_cast<std::byte*>(to) + done * type.size, bytes, &position,
                elements.comm);
  });
}

void unpack(const void* from, const Elements& elements, void* to) {
  const Type& type = elements.type;
  if (type.plain) {
    std::memcpy(to, from, elements.bytes());
    return;
  }
  by_pieces(elements, [&](std::size_t done, int count) {
    const int bytes = static_cast<int>(static_cast<std::size_t>(count) * type.size);
    int position = 0;
    auto* target = static_cast<std::byte*>(to) + static_cast<std::ptrdiff_t>(done) * type.extent;
    host().Unpack(static_cast<const std::byte*>(from) + done * type.size, bytes, &position, target, count,
                  type.handle, elements.comm);
  });
}

}  // namespace hocket::interpose
