#include "interpose/plugin/reductions.hpp"

#include <algorithm>
#include <utility>

#include "interpose/plugin/handles/operations.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/packing.hpp"

namespace hocket::interpose {
namespace {

// Open MPI 5.0.11 crashes in MPI_Reduce_local when only sessions have been started.
bool has_reduce_local() {
#if defined(HOCKET_ABI_OMPI)
  return process.world;
#else
  return true;
#endif
}

}  // namespace

// Left fold, slab by slab: all sources of a slab are read before the result is written, so that dst may be
// one of them. MPI_Reduce_local(in, inout) makes inout = in op inout: the left operand comes first.
void apply_user(const engine::Reduction& self, void* dst, const void* const* src, int sources,
                std::size_t count) noexcept {
  const auto& r = *static_cast<const Reducer*>(self.context);
  for (std::size_t done = 0; done < count; done += r.slab_) {
    const Elements slab{*r.type_, std::min(r.slab_, count - done), r.comm_};
    const std::size_t offset = done * r.type_->size;
    void* left = r.operands_[0];
    void* right = r.operands_[1];
    r.note(unpack(static_cast<const std::byte*>(src[0]) + offset, slab, left));
    for (int i = 1; i < sources; ++i) {
      r.note(unpack(static_cast<const std::byte*>(src[i]) + offset, slab, right));
      r.note(host().Reduce_local(left, right, static_cast<int>(slab.count), r.type_->handle, r.op_));
      std::swap(left, right);
    }
    r.note(pack(left, slab, static_cast<std::byte*>(dst) + offset));
  }
}

bool Reducer::prepare(const Communicator& communicator, Sides& sides, MPI_Datatype type, MPI_Op op) {
  type_ = sides.sent.type.of(type);
  if (!type_) return false;
  const Operation operation = operation_of(op);
  switch (operation.kind) {
    case OperationClass::predefined:
      return prepare_kernel(operation.predefined);
    case OperationClass::user:
      return prepare_user(communicator, sides, op, operation.commutative);
    case OperationClass::unusable:
      return false;
  }
  return false;
}

bool Reducer::prepare_kernel(kernels::OpKind operation) {
  const auto kernel = kernels::find(operation, type_->element);
  if (!kernel) return false;
  reduction_.element_bytes = kernels::element_size(type_->element);
  reduction_.operation = static_cast<std::uint8_t>(static_cast<int>(operation) + 1);
  reduction_.element_type = static_cast<std::uint8_t>(static_cast<int>(type_->element) + 1);
  reduction_.kernel = kernel;
  return true;
}

bool Reducer::prepare_user(const Communicator& communicator, Sides& sides, MPI_Op op, bool commutative) {
  if (!has_reduce_local() || type_->size == 0) return false;
  op_ = op;
  comm_ = communicator.handle;
  packs_ = !type_->plain;
  if (packs_) demand_packable(*type_, comm_);
  reduction_.apply = apply_user;
  reduction_.element_bytes = type_->size;
  reduction_.commutative = commutative;
  reduction_.context = this;
  lay_out_operands(sides.operands);
  return true;
}

namespace {

// Elements that are combined at once. A type whose elements lie over or before each other (an extent below
// the true one: zero, negative) may still stand for a vector of distinct ones, namely those of other ranks,
// whose types have the same signature and another map. One at a time, they cannot overwrite each other.
std::size_t elements_at_once(const Type& type) {
  constexpr std::size_t slab_bytes = 32768;
  if (type.extent < static_cast<std::ptrdiff_t>(type.true_extent)) return 1;
  return std::max<std::size_t>(1, slab_bytes / static_cast<std::size_t>(type.extent));
}

}  // namespace

// Two areas for slab_ elements each; an operand's address is where the element's origin would be, which lies
// before its first byte by true_lb.
void Reducer::lay_out_operands(Scratch& scratch) {
  constexpr std::size_t alignment = 64;
  slab_ = elements_at_once(*type_);
  const std::size_t before_last = slab_ == 1 ? 0 : (slab_ - 1) * static_cast<std::size_t>(type_->extent);
  const std::size_t area = (before_last + type_->true_extent) / alignment * alignment + 2 * alignment;
  const std::ptrdiff_t aligned_lb = type_->true_lb & -static_cast<std::ptrdiff_t>(alignment);
  auto* memory = static_cast<std::byte*>(scratch.get(2 * area));
  operands_[0] = memory - aligned_lb;
  operands_[1] = memory + area - aligned_lb;
}

}  // namespace hocket::interpose
