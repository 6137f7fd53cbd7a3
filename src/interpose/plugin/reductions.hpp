// An MPI operation on an MPI type as the engine's Reduction: kernels for predefined operations,
// MPI_Reduce_local for the user's own.
//
// Predefined operations work on elements as C lays them out, gaps of the pair types included. User operations
// see the real type: their operands travel packed, and are unpacked into scratch of the type's own layout for
// each call; what that layout is on one rank decides nothing.
#pragma once

#include "engine/call.hpp"
#include "interpose/plugin/communicators.hpp"
#include "interpose/plugin/handles/types.hpp"
#include "interpose/plugin/handles/used_handles.hpp"

namespace hocket::interpose {

class Reducer {
 public:
  /// False: leave the call to the MPI (it also raises the errors for pairs that do not go together).
  bool prepare(const Communicator& communicator, Sides& sides, MPI_Datatype type, MPI_Op op);

  const engine::Reduction& reduction() const { return reduction_; }
  const Type& type() const { return *type_; }
  std::size_t unit() const { return reduction_.element_bytes; }
  /// Must the user's buffers be packed?
  bool packs() const { return packs_; }
  UsedHandles handles() const {
    return reduction_.kernel ? UsedHandles{} : UsedHandles{{bits_of(type_->handle)}, bits_of(op_)};
  }
  /// The first error of the MPI while a user operation was applied.
  int result() const { return result_; }

 private:
  friend void apply_user(const engine::Reduction&, void*, const void* const*, int, std::size_t) noexcept;
  bool prepare_kernel(kernels::OpKind operation);
  bool prepare_user(const Communicator& communicator, Sides& sides, MPI_Op op, bool commutative);
  void lay_out_operands(Scratch& scratch);
  void note(int code) const { result_ = result_ == MPI_SUCCESS ? code : result_; }

  engine::Reduction reduction_;
  const Type* type_ = nullptr;
  bool packs_ = false;
  // user operations
  MPI_Op op_{};
  MPI_Comm comm_{};
  std::size_t slab_ = 0;  ///< elements per call of the operation
  void* operands_[2] = {};
  mutable int result_ = MPI_SUCCESS;
};

}  // namespace hocket::interpose
