// The user's data as plain bytes: the buffer itself where it is that already, else an image packed by the
// MPI. Bytes are what all ranks agree on; type maps may differ between ranks.
#pragma once

#include <cstddef>

#include "interpose/plugin/handles/types.hpp"
#include "interpose/plugin/scratch.hpp"

namespace hocket::interpose {

/// Elements of one type at one place.
struct Elements {
  const Type& type;
  std::size_t count;
  MPI_Comm comm;  ///< for MPI_Pack and the error handler of a type it does not accept
  std::size_t bytes() const { return count * type.size; }
};

void pack(const void* from, const Elements& elements, void* to);
void unpack(const void* from, const Elements& elements, void* to);

/// Bytes to send: `buffer`, or a packed image of it.
inline const void* bytes_of(const void* buffer, const Elements& elements, Scratch& scratch) {
  if (elements.type.plain || elements.bytes() == 0) return buffer;
  void* image = scratch.get(elements.bytes());
  pack(buffer, elements, image);
  return image;
}

/// Where received bytes go before deliver().
inline void* landing(void* buffer, const Elements& elements, Scratch& scratch) {
  return elements.type.plain || elements.bytes() == 0 ? buffer : scratch.get(elements.bytes());
}

inline void deliver(const void* image, void* buffer, const Elements& elements) {
  if (image != buffer) unpack(image, elements, buffer);
}

}  // namespace hocket::interpose
