// The sides of a collective, as the program gives them (Part, Parts) and as they are described to the engine:
// one block, blocks of one size one after the other, or blocks of a v-form. All three answer the same
// questions, so that a collective and its v-form are described by the same code.
#pragma once

#include <cstddef>

#include "interpose/plugin/collectives/block_layout.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/communicators.hpp"
#include "interpose/plugin/packing.hpp"

namespace hocket::interpose {

template <class N>
struct Part {
  const void* buffer;
  N count;
  MPI_Datatype type;
};

template <class N>
struct Parts {
  const void* buffer;
  const N* counts;
  const Displacement<N>* displacements;
  MPI_Datatype type;
};

inline void* advanced(const void* buffer, std::ptrdiff_t bytes) {
  return static_cast<std::byte*>(const_cast<void*>(buffer)) + bytes;
}

/// Elements of one type in one place.
struct Block {
  void* buffer = nullptr;
  std::size_t count = 0;
  const Type* type = nullptr;
  MPI_Comm comm{};

  /// False: the program's mistake, which is the MPI's to report.
  template <class N>
  bool open(const Part<N>& part, const Communicator& c, Side& side) {
    *this = {const_cast<void*>(part.buffer), static_cast<std::size_t>(part.count), side.type.of(part.type),
             c.handle};
    return type && part.count >= 0;
  }

  Elements elements() const { return {*type, count, comm}; }
  std::size_t bytes() const { return count * type->size; }
  bool is_plain() const { return type->plain; }
  HandleBits used_type() const { return type && !type->plain ? bits_of(type->handle) : 0; }
  /// A buffer that can be right: only packing makes sense of a null pointer, MPI_BOTTOM.
  bool is_there() const { return !type->plain || is_buffer(buffer, bytes()); }

  const void* packed(Scratch& image) const { return bytes_of(buffer, elements(), image); }
  void* landing(Scratch& image) const { return interpose::landing(buffer, elements(), image); }
  int deliver(const void* image) const { return interpose::deliver(image, buffer, elements()); }
};

/// One block per rank, all of one size.
struct EqualBlocks : Block {
  static constexpr bool are_equal = true;
  std::size_t each = 0;  ///< elements of a block

  template <class N>
  bool open(const Part<N>& part, const Communicator& c, Side& side) {
    const bool right = Block::open(part, c, side);
    each = count;
    count *= static_cast<std::size_t>(c.size);
    return right;
  }

  void* place(int rank) const {
    return advanced(buffer, static_cast<std::ptrdiff_t>(each) * rank * type->extent);
  }
  Block block(int rank) const { return {place(rank), each, type, comm}; }
  std::size_t block_bytes(int) const { return each * type->size; }
  engine::Blocks blocks() const { return {each * type->size}; }
};

/// One block per rank, each with its own size and place.
template <class N>
class UnequalBlocks {
 public:
  static constexpr bool are_equal = false;

  bool open(const Parts<N>& parts, const Communicator& c, Side& side) {
    parts_ = parts;
    ranks_ = c.size;
    comm_ = c.handle;
    type_ = side.type.of(parts.type);
    if (!type_ || !parts.counts || !parts.displacements) return false;
    layout_ = BlockLayout(side.layout, c.size);
    if (!layout_.measure(parts.counts, type_->size)) return false;
    if (type_->plain)
      layout_.place(parts.displacements, type_->extent);
    else
      layout_.line_up();
    return true;
  }

  void* place(int rank) const {
    return advanced(parts_.buffer, static_cast<std::ptrdiff_t>(parts_.displacements[rank]) * type_->extent);
  }
  Block block(int rank) const {
    return {place(rank), static_cast<std::size_t>(parts_.counts[rank]), type_, comm_};
  }
  std::size_t block_bytes(int rank) const { return layout_.size(rank); }
  engine::Blocks blocks() const { return layout_.blocks(); }
  std::size_t bytes() const { return layout_.total(); }
  bool is_plain() const { return type_->plain; }
  HandleBits used_type() const { return type_ && !type_->plain ? bits_of(type_->handle) : 0; }
  bool is_there() const { return !type_->plain || is_buffer(parts_.buffer, bytes()); }

  const void* packed(Scratch& image) const {
    void* bytes = landing(image);
    for (int i = 0; bytes != parts_.buffer && i < ranks_; ++i)
      if (block_bytes(i)) pack_or_throw(place(i), block(i).elements(), advanced(bytes, layout_.offset(i)));
    return bytes;
  }

  void* landing(Scratch& image) const {
    if (type_->plain || bytes() == 0) return const_cast<void*>(parts_.buffer);
    demand_packable(*type_, comm_);
    return image.get(bytes());
  }

  int deliver(const void* image) const {
    int code = MPI_SUCCESS;
    for (int i = 0; image != parts_.buffer && i < ranks_ && code == MPI_SUCCESS; ++i)
      if (block_bytes(i)) code = unpack(advanced(image, layout_.offset(i)), block(i).elements(), place(i));
    return code;
  }

 private:
  Parts<N> parts_{};
  const Type* type_ = nullptr;
  BlockLayout layout_;
  int ranks_ = 0;
  MPI_Comm comm_{};
};

}  // namespace hocket::interpose
