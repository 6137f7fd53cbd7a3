#include "interpose/plugin/packing.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>

#include "interpose/plugin/host.hpp"

namespace hocket::interpose {
namespace {

// MPI_Pack counts bytes in int: more is done in pieces of whole elements.
std::size_t piece_of(const Type& type) {
  return std::max<std::size_t>(1, INT_MAX / std::max<std::size_t>(1, type.size));
}

// MPICH's MPI_Pack and MPI_Unpack take MPI_BOTTOM, a null pointer, for a mistake, although a type may hold
// absolute addresses. The same places are then described from an address that is not null.
class Anchored {
 public:
  Anchored(const void* buffer, const Type& type) : buffer_(buffer), handle_(type.handle) {
    if (buffer) return;
    static std::byte anchor;
    buffer_ = &anchor;
    const int one = 1;
    const auto to_bottom = static_cast<MPI_Aint>(0 - reinterpret_cast<std::uintptr_t>(&anchor));
    host().Type_create_hindexed(1, &one, &to_bottom, type.handle, &handle_);
    host().Type_commit(&handle_);
    made_ = true;
  }
  ~Anchored() {
    if (made_) host().Type_free(&handle_);
  }
  Anchored(const Anchored&) = delete;
  Anchored& operator=(const Anchored&) = delete;

  std::byte* at(std::ptrdiff_t offset) const {
    return static_cast<std::byte*>(const_cast<void*>(buffer_)) + offset;
  }
  MPI_Datatype handle() const { return handle_; }

 private:
  const void* buffer_;
  MPI_Datatype handle_;
  bool made_ = false;
};

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
  const Anchored place(from, type);
  by_pieces(elements, [&](std::size_t done, int count) {
    const int bytes = static_cast<int>(static_cast<std::size_t>(count) * type.size);
    int position = 0;
    const std::byte* source = place.at(static_cast<std::ptrdiff_t>(done) * type.extent);
    host().Pack(source, count, place.handle(), static_cast<std::byte*>(to) + done * type.size, bytes,
                &position, elements.comm);
  });
}

void unpack(const void* from, const Elements& elements, void* to) {
  const Type& type = elements.type;
  if (type.plain) {
    std::memcpy(to, from, elements.bytes());
    return;
  }
  const Anchored place(to, type);
  by_pieces(elements, [&](std::size_t done, int count) {
    const int bytes = static_cast<int>(static_cast<std::size_t>(count) * type.size);
    int position = 0;
    std::byte* target = place.at(static_cast<std::ptrdiff_t>(done) * type.extent);
    host().Unpack(static_cast<const std::byte*>(from) + done * type.size, bytes, &position, target, count,
                  place.handle(), elements.comm);
  });
}

}  // namespace hocket::interpose
