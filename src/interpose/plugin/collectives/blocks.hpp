// The blocks of a v-form in bytes: where they are in the user's buffer, or one after the other in a packed
// image.
#pragma once

#include <cstddef>

#include "engine/call.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/packing.hpp"
#include "interpose/plugin/scratch.hpp"

namespace hocket::interpose {

struct BlockLayout {
  std::size_t* sizes = nullptr;
  std::ptrdiff_t* offsets = nullptr;
  std::size_t total = 0;
  engine::Blocks blocks() const { return {0, sizes, offsets}; }
};

/// Room for the blocks of p ranks.
inline BlockLayout block_layout(Scratch& scratch, int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  auto* sizes = scratch.array<std::size_t>(2 * p);
  return {sizes, reinterpret_cast<std::ptrdiff_t*>(sizes + p), 0};
}

/// False: a count is negative. Without displacements the blocks follow each other.
template <class N>
bool lay_out(BlockLayout& layout, int ranks, const N* counts, const Displacement<N>* displacements,
             std::size_t unit, std::ptrdiff_t extent, bool in_user_buffer) {
  if (!counts) return false;
  for (int i = 0; i < ranks; ++i) {
    if (counts[i] < 0) return false;
    layout.sizes[i] = static_cast<std::size_t>(counts[i]) * unit;
    layout.offsets[i] = in_user_buffer && displacements
                            ? static_cast<std::ptrdiff_t>(displacements[i]) * extent
                            : static_cast<std::ptrdiff_t>(layout.total);
    layout.total += layout.sizes[i];
  }
  return true;
}

template <class N>
bool lay_out(BlockLayout& layout, int ranks, const N* counts, const Displacement<N>* displacements,
             const Type& type) {
  if (!displacements && layout.sizes && type.size != 0 && counts == nullptr) return false;
  return lay_out(layout, ranks, counts, displacements, type.size, type.extent, type.plain);
}

/// A v-form's buffer: as the program gave it.
template <class N>
struct UserBlocks {
  const void* buffer;
  const N* counts;
  const Displacement<N>* displacements;
  const Type& type;
  MPI_Comm comm;

  const std::byte* place(int i) const {
    return static_cast<const std::byte*>(buffer) +
           static_cast<std::ptrdiff_t>(displacements[i]) * type.extent;
  }
  Elements elements(int i) const { return {type, static_cast<std::size_t>(counts[i]), comm}; }
};

template <class N>
void pack_block(const UserBlocks<N>& user, const BlockLayout& layout, int i, void* image) {
  if (layout.sizes[i])
    pack_or_throw(user.place(i), user.elements(i), static_cast<std::byte*>(image) + layout.offsets[i]);
}

/// Bytes to send: the user's buffer, or an image of all its blocks.
template <class N>
const void* bytes_of_blocks(const UserBlocks<N>& user, const BlockLayout& layout, int ranks,
                            Scratch& scratch) {
  if (user.type.plain || layout.total == 0) return user.buffer;
  demand_packable(user.type, user.comm);
  void* image = scratch.get(layout.total);
  for (int i = 0; i < ranks; ++i) pack_block(user, layout, i, image);
  return image;
}

template <class N>
void* landing_of_blocks(const UserBlocks<N>& user, const BlockLayout& layout, Scratch& scratch) {
  if (user.type.plain || layout.total == 0) return const_cast<void*>(user.buffer);
  demand_packable(user.type, user.comm);
  return scratch.get(layout.total);
}

template <class N>
int deliver_blocks(const void* image, const UserBlocks<N>& user, const BlockLayout& layout, int ranks) {
  int code = MPI_SUCCESS;
  if (image == user.buffer) return code;
  for (int i = 0; i < ranks && code == MPI_SUCCESS; ++i)
    if (layout.sizes[i])
      code = unpack(static_cast<const std::byte*>(image) + layout.offsets[i], user.elements(i),
                    const_cast<std::byte*>(user.place(i)));
  return code;
}

}  // namespace hocket::interpose
