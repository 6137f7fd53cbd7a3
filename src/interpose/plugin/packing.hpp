// The user's data as plain bytes: the buffer itself where it is that already, else an image packed by the
// MPI. Bytes are what all ranks agree on; type maps may differ between ranks.
#pragma once

#include <cstddef>
#include <exception>

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

/// The MPI has refused, and has called the error handler; thrown before the engine carries the call out.
struct MpiFailure : std::exception {
  explicit MpiFailure(int its_code) : code(its_code) {}
  int code;
};

/// An MPI error code; the communicator's error handler has been called.
[[nodiscard]] int pack(const void* from, const Elements& elements, void* to);
[[nodiscard]] int unpack(const void* from, const Elements& elements, void* to);

/// Throws if this MPI cannot pack single elements of that size: MPI_Pack counts bytes in int.
void demand_packable(const Type& type, MPI_Comm comm);

inline void pack_or_throw(const void* from, const Elements& elements, void* to) {
  if (const int code = pack(from, elements, to); code != MPI_SUCCESS) throw MpiFailure{code};
}

/// Bytes to send: `buffer`, or a packed image of it.
inline const void* bytes_of(const void* buffer, const Elements& elements, Scratch& scratch) {
  if (elements.type.plain || elements.bytes() == 0) return buffer;
  demand_packable(elements.type, elements.comm);
  void* image = scratch.get(elements.bytes());
  pack_or_throw(buffer, elements, image);
  return image;
}

/// Where received bytes go before deliver().
inline void* landing(void* buffer, const Elements& elements, Scratch& scratch) {
  if (elements.type.plain || elements.bytes() == 0) return buffer;
  demand_packable(elements.type, elements.comm);
  return scratch.get(elements.bytes());
}

/// An MPI error code, like unpack().
inline int deliver(const void* image, void* buffer, const Elements& elements) {
  return image == buffer ? MPI_SUCCESS : unpack(image, elements, buffer);
}

}  // namespace hocket::interpose
