// What the element types and operations are: sizes, names, and which pairs MPI allows.
#include <iterator>

#include "kernels/kernels.hpp"

namespace hocket::kernels {
namespace {

enum class TypeClass : std::uint8_t { integer, floating, complex, logical, byte, pair };

struct TypeRow {
  ElementType type;
  std::string_view name;
  std::size_t size;
  TypeClass kind;
};

struct FloatInt {
  float value;
  int index;
};
struct DoubleInt {
  double value;
  int index;
};
struct LongInt {
  std::int64_t value;
  int index;
};
struct ShortInt {
  short value;
  int index;
};
struct LongDoubleInt {
  long double value;
  int index;
};

constexpr TypeRow rows[] = {
    {ElementType::i8, "i8", 1, TypeClass::integer},
    {ElementType::i16, "i16", 2, TypeClass::integer},
    {ElementType::i32, "i32", 4, TypeClass::integer},
    {ElementType::i64, "i64", 8, TypeClass::integer},
    {ElementType::u8, "u8", 1, TypeClass::integer},
    {ElementType::u16, "u16", 2, TypeClass::integer},
    {ElementType::u32, "u32", 4, TypeClass::integer},
    {ElementType::u64, "u64", 8, TypeClass::integer},
    {ElementType::f16, "f16", 2, TypeClass::floating},
    {ElementType::bf16, "bf16", 2, TypeClass::floating},
    {ElementType::f32, "f32", 4, TypeClass::floating},
    {ElementType::f64, "f64", 8, TypeClass::floating},
    {ElementType::f80, "f80", sizeof(long double), TypeClass::floating},
    {ElementType::c32, "c32", 8, TypeClass::complex},
    {ElementType::c64, "c64", 16, TypeClass::complex},
    {ElementType::c80, "c80", 2 * sizeof(long double), TypeClass::complex},
    {ElementType::bool8, "bool8", 1, TypeClass::logical},
    {ElementType::logical32, "logical32", 4, TypeClass::logical},
    {ElementType::byte, "byte", 1, TypeClass::byte},
    {ElementType::pair_f32_i32, "pair_f32_i32", sizeof(FloatInt), TypeClass::pair},
    {ElementType::pair_f64_i32, "pair_f64_i32", sizeof(DoubleInt), TypeClass::pair},
    {ElementType::pair_i64_i32, "pair_i64_i32", sizeof(LongInt), TypeClass::pair},
    {ElementType::pair_i32_i32, "pair_i32_i32", 8, TypeClass::pair},
    {ElementType::pair_i16_i32, "pair_i16_i32", sizeof(ShortInt), TypeClass::pair},
    {ElementType::pair_f80_i32, "pair_f80_i32", sizeof(LongDoubleInt), TypeClass::pair},
    {ElementType::pair_f32_f32, "pair_f32_f32", 8, TypeClass::pair},
    {ElementType::pair_f64_f64, "pair_f64_f64", 16, TypeClass::pair},
};

constexpr bool rows_in_order() {
  for (std::size_t i = 0; i < element_type_count; ++i)
    if (static_cast<std::size_t>(rows[i].type) != i) return false;
  return std::size(rows) == element_type_count;
}
static_assert(rows_in_order());

constexpr std::string_view op_names[] = {"sum",  "prod", "max",  "min",    "land",   "lor", "lxor",
                                         "band", "bor",  "bxor", "maxloc", "minloc", "none"};
static_assert(std::size(op_names) == op_kind_count + 1);

bool supported_class(OpKind op, TypeClass kind) noexcept {
  switch (op) {
    case OpKind::sum:
    case OpKind::prod:
      return kind == TypeClass::integer || kind == TypeClass::floating || kind == TypeClass::complex;
    case OpKind::max:
    case OpKind::min:
      return kind == TypeClass::integer || kind == TypeClass::floating;
    case OpKind::land:
    case OpKind::lor:
    case OpKind::lxor:
      return kind == TypeClass::integer || kind == TypeClass::logical;
    case OpKind::band:
    case OpKind::bor:
    case OpKind::bxor:
      return kind == TypeClass::integer || kind == TypeClass::byte;
    case OpKind::maxloc:
    case OpKind::minloc:
      return kind == TypeClass::pair;
    case OpKind::none:
      break;
  }
  return false;
}

}  // namespace

std::size_t element_size(ElementType type) noexcept {
  return type < ElementType::none ? rows[static_cast<std::size_t>(type)].size : 0;
}

std::string_view name(ElementType type) noexcept {
  return type < ElementType::none ? rows[static_cast<std::size_t>(type)].name : "none";
}

std::string_view name(OpKind op) noexcept {
  return op < OpKind::none ? op_names[static_cast<std::size_t>(op)] : "none";
}

bool supported(OpKind op, ElementType type) noexcept {
  return type < ElementType::none && supported_class(op, rows[static_cast<std::size_t>(type)].kind);
}

}  // namespace hocket::kernels
