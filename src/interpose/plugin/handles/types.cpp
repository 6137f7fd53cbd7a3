#include "interpose/plugin/handles/types.hpp"

#include "interpose/plugin/handles/construction.hpp"
#include "interpose/plugin/handles/element_kinds.hpp"
#include "interpose/plugin/handles/handle_table.hpp"
#include "interpose/plugin/host.hpp"

namespace hocket::interpose {

std::atomic<std::uint32_t> type_epoch{1};

namespace {

// Named types stay; derived ones go when the program frees them.
HandleTable<const Type>& named = *new HandleTable<const Type>;
HandleTable<Type>& derived = *new HandleTable<Type>;
constexpr int no_keyval = -1;
int keyval = no_keyval;

int do_not_copy(MPI_Datatype, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int forget(MPI_Datatype handle, int, void*, void*) {
  derived.erase(bits_of(handle));
  ++type_epoch;
  return MPI_SUCCESS;
}

// Fortran's parametrised types are predefined too, without a name.
std::optional<ElementKind> kind_of_unnamed(int combiner) {
  switch (combiner) {
    case MPI_COMBINER_F90_INTEGER:
      return ElementKind::signed_integer;
    case MPI_COMBINER_F90_REAL:
      return ElementKind::floating;
    case MPI_COMBINER_F90_COMPLEX:
      return ElementKind::complex;
    default:
      return std::nullopt;
  }
}

bool measure(MPI_Datatype handle, Type& type) {
  MPI_Count size, lb, extent, true_lb, true_extent;
  if (host().Type_size_x(handle, &size) != MPI_SUCCESS || size < 0) return false;
  if (host().Type_get_extent_x(handle, &lb, &extent) != MPI_SUCCESS) return false;
  if (host().Type_get_true_extent_x(handle, &true_lb, &true_extent) != MPI_SUCCESS) return false;
  type.handle = handle;
  type.size = static_cast<std::size_t>(size);
  type.extent = extent;
  type.true_lb = true_lb;
  type.true_extent = static_cast<std::size_t>(true_extent);
  type.plain = is_gapless(handle, type.size, lb, type.extent);
  return true;
}

// Several threads may meet a type at the same time. The one that keeps it sets the attribute: setting it
// again would run forget() for the first one.
void keep(const Type& type) {
  const HandleBits bits = bits_of(type.handle);
  if (combiner_of(type.handle) == MPI_COMBINER_NAMED) {
    named.insert_if_absent(bits, std::make_unique<const Type>(type));
  } else if (derived.insert_if_absent(bits, std::make_unique<Type>(type))) {
    if (host().Type_set_attr(type.handle, keyval, nullptr) != MPI_SUCCESS) derived.erase(bits);
  }
}

std::optional<Type> learn(MPI_Datatype handle) {
  Type type;
  if (!measure(handle, type)) return std::nullopt;
  auto kind = kind_of(handle);
  const auto combiner = combiner_of(handle);
  if (!kind && combiner) kind = kind_of_unnamed(*combiner);
  if (kind) type.element = element_of(*kind, type.size);
  keep(type);
  return type;
}

}  // namespace

std::optional<Type> type_of(MPI_Datatype handle) {
  if (const Type* known = named.value_of(bits_of(handle))) return *known;
  if (auto known = derived.copy_of(bits_of(handle))) return known;
  if (handle == null().type || bits_of(handle) == 0) return std::nullopt;
  return learn(handle);
}

void open_types() {
  open_element_kinds();
  if (keyval == no_keyval) host().Type_create_keyval(do_not_copy, forget, &keyval, nullptr);
}

void close_types() {
  named.clear();
  derived.clear();
  if (keyval != no_keyval) host().Type_free_keyval(&keyval);
  keyval = no_keyval;
}

}  // namespace hocket::interpose
