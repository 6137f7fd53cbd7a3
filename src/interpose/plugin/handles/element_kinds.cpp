#include "interpose/plugin/handles/element_kinds.hpp"

#include "interpose/plugin/handles/handle_table.hpp"
#include "interpose/plugin/host.hpp"

namespace hocket::interpose {
namespace {

using kernels::ElementType;
using enum ElementKind;

HandleTable<const ElementKind>& kinds = *new HandleTable<const ElementKind>;

// Names that an MPI lacks read as null in Open MPI, and as the null handle elsewhere.
void add(MPI_Datatype handle, ElementKind kind) {
  if (bits_of(handle) == 0 || handle == null().type) return;
  kinds.insert(bits_of(handle), std::make_unique<const ElementKind>(kind));
}

template <class... Handles>
void add_all(ElementKind kind, Handles... handles) {
  (add(handles, kind), ...);
}

void add_integers() {
  add_all(signed_integer, MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T,
          MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_INTEGER, MPI_INTEGER1,
          MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8);
  add_all(unsigned_integer, MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
          MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T);
}

void add_reals() {
  add_all(floating, MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8);
  add(MPI_LONG_DOUBLE, long_double);
  add_all(complex, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX,
          MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16);
  add_all(complex_long_double, MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX);
#if defined(HOCKET_ABI_MPICH)
  add(MPIX_C_FLOAT16, floating);
  add(MPIX_BFLOAT16, bfloat);
#endif
}

void add_others() {
  add_all(boolean, MPI_C_BOOL, MPI_CXX_BOOL);
  add(MPI_LOGICAL, logical);
  add(MPI_BYTE, bytes);
  add(MPI_FLOAT_INT, pair_float_int);
  add(MPI_DOUBLE_INT, pair_double_int);
  add(MPI_LONG_INT, pair_long_int);
  add_all(pair_int_int, MPI_2INT, MPI_2INTEGER);
  add(MPI_SHORT_INT, pair_short_int);
  add(MPI_LONG_DOUBLE_INT, pair_long_double_int);
  add(MPI_2REAL, pair_real);
  add(MPI_2DOUBLE_PRECISION, pair_double);
}

ElementType by_width(std::size_t size, ElementType one, ElementType two, ElementType four,
                     ElementType eight) {
  switch (size) {
    case 1:
      return one;
    case 2:
      return two;
    case 4:
      return four;
    case 8:
      return eight;
    default:
      return ElementType::none;
  }
}

ElementType if_size(std::size_t size, std::size_t expected, ElementType type) {
  return size == expected ? type : ElementType::none;
}

}  // namespace

void open_element_kinds() {
  add_integers();
  add_reals();
  add_others();
}

std::optional<ElementKind> kind_of(MPI_Datatype handle) {
  const ElementKind* kind = kinds.value_of(bits_of(handle));
  return kind ? std::optional(*kind) : std::nullopt;
}

ElementType element_of(ElementKind kind, std::size_t size) {
  using enum ElementType;
  switch (kind) {
    case signed_integer:
      return by_width(size, i8, i16, i32, i64);
    case unsigned_integer:
      return by_width(size, u8, u16, u32, u64);
    case floating:
      return by_width(size, none, f16, f32, f64);
    case bfloat:
      return if_size(size, 2, bf16);
    case long_double:
      return if_size(size, sizeof(long double), f80);
    case ElementKind::complex:
      return size == 8 ? c32 : if_size(size, 16, c64);
    case complex_long_double:
      return if_size(size, 2 * sizeof(long double), c80);
    case boolean:
      return if_size(size, 1, bool8);
    case logical:
      return if_size(size, 4, logical32);
    case bytes:
      return byte;
    case pair_float_int:
      return pair_f32_i32;
    case pair_double_int:
      return pair_f64_i32;
    case pair_long_int:
      return pair_i64_i32;
    case pair_int_int:
      return if_size(size, 8, pair_i32_i32);
    case pair_short_int:
      return pair_i16_i32;
    case pair_long_double_int:
      return pair_f80_i32;
    case pair_real:
      return if_size(size, 8, pair_f32_f32);
    case pair_double:
      return if_size(size, 16, pair_f64_f64);
  }
  return none;
}

}  // namespace hocket::interpose
