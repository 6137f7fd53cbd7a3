#include "interpose/plugin/packing.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>

#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/host.hpp"

namespace hocket::interpose {
namespace {

// MPI_Pack counts bytes in int: more is done in pieces of whole elements, larger elements by
// MPI_Pack_c.
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
    code_ = host().Type_create_hindexed(1, &one, &to_bottom, type.handle, &handle_);
    made_ = code_ == MPI_SUCCESS;
    if (made_) code_ = host().Type_commit(&handle_);
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
  int code() const { return code_; }

 private:
  const void* buffer_;
  MPI_Datatype handle_;
  int code_ = MPI_SUCCESS;
  bool made_ = false;
};

template <class Function>
int by_pieces(const Elements& elements, Function function) {
  const std::size_t piece = piece_of(elements.type);
  int code = MPI_SUCCESS;
  for (std::size_t done = 0; done < elements.count && code == MPI_SUCCESS; done += piece)
    code = function(done, static_cast<int>(std::min(piece, elements.count - done)));
  return code;
}

bool is_beyond_int(const Type& type) {
  return type.size > INT_MAX;
}

int pack_large(const Anchored& place, const Elements& elements, void* to) {
  MPI_Count position = 0;
  return host().Pack_c(place.at(0), static_cast<MPI_Count>(elements.count), place.handle(), to,
                       static_cast<MPI_Count>(elements.bytes()), &position, elements.comm);
}

int unpack_large(const void* from, const Elements& elements, const Anchored& place) {
  MPI_Count position = 0;
  return host().Unpack_c(from, static_cast<MPI_Count>(elements.bytes()), &position, place.at(0),
                         static_cast<MPI_Count>(elements.count), place.handle(), elements.comm);
}

}  // namespace

void demand_packable(const Type& type, MPI_Comm comm) {
  if (!is_beyond_int(type) || (host().Pack_c && host().Unpack_c)) return;
  throw MpiFailure{raise_class(comm, MPI_ERR_COUNT)};
}

int pack(const void* from, const Elements& elements, void* to) {
  const Type& type = elements.type;
  if (type.plain) {
    std::memcpy(to, from, elements.bytes());
    return MPI_SUCCESS;
  }
  const Anchored place(from, type);
  if (place.code() != MPI_SUCCESS) return place.code();
  if (is_beyond_int(type)) return pack_large(place, elements, to);
  return by_pieces(elements, [&](std::size_t done, int count) {
    const int bytes = static_cast<int>(static_cast<std::size_t>(count) * type.size);
    int position = 0;
    const std::byte* source = place.at(static_cast<std::ptrdiff_t>(done) * type.extent);
    return host().Pack(source, count, place.handle(), static_cast<std::byte*>(to) + done * type.size, bytes,
                       &position, elements.comm);
  });
}

int unpack(const void* from, const Elements& elements, void* to) {
  const Type& type = elements.type;
  if (type.plain) {
    std::memcpy(to, from, elements.bytes());
    return MPI_SUCCESS;
  }
  const Anchored place(to, type);
  if (place.code() != MPI_SUCCESS) return place.code();
  if (is_beyond_int(type)) return unpack_large(from, elements, place);
  return by_pieces(elements, [&](std::size_t done, int count) {
    const int bytes = static_cast<int>(static_cast<std::size_t>(count) * type.size);
    int position = 0;
    std::byte* target = place.at(static_cast<std::ptrdiff_t>(done) * type.extent);
    return host().Unpack(static_cast<const std::byte*>(from) + done * type.size, bytes, &position, target,
                         count, place.handle(), elements.comm);
  });
}

}  // namespace hocket::interpose
