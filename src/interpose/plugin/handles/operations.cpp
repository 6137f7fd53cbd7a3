#include "interpose/plugin/handles/operations.hpp"

#include "interpose/plugin/handles/handle_table.hpp"
#include "interpose/plugin/host.hpp"

namespace hocket::interpose {
namespace {

HandleTable<const Operation>& predefined = *new HandleTable<const Operation>;

void add(MPI_Op handle, kernels::OpKind kind) {
  if (bits_of(handle) == 0) return;
  const bool usable = kind != kernels::OpKind::none;
  const Operation operation{usable ? OperationClass::predefined : OperationClass::unusable, kind, true};
  predefined.insert(bits_of(handle), std::make_unique<const Operation>(operation));
}

}  // namespace

void open_operations() {
  using enum kernels::OpKind;
  add(MPI_SUM, sum);
  add(MPI_PROD, prod);
  add(MPI_MAX, max);
  add(MPI_MIN, min);
  add(MPI_LAND, land);
  add(MPI_LOR, lor);
  add(MPI_LXOR, lxor);
  add(MPI_BAND, band);
  add(MPI_BOR, bor);
  add(MPI_BXOR, bxor);
  add(MPI_MAXLOC, maxloc);
  add(MPI_MINLOC, minloc);
  add(MPI_REPLACE, none);
  add(MPI_NO_OP, none);
  add(MPI_OP_NULL, none);
}

Operation operation_of(MPI_Op handle) {
  if (const Operation* known = predefined.value_of(bits_of(handle))) return *known;
  int commutative = 0;
  if (bits_of(handle) == 0 || host().Op_commutative(handle, &commutative) != MPI_SUCCESS) return {};
  return {OperationClass::user, kernels::OpKind::none, commutative != 0};
}

}  // namespace hocket::interpose
