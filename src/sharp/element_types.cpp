#include "sharp/element_types.hpp"

#include <array>

#include "sharp/field.hpp"

namespace hocket::sharp {
namespace {

using kernels::ElementType;
using kernels::OpKind;

/// By sharp_datatype.
constexpr std::array<ElementType, SHARP_DTYPE_NULL> types = {
    ElementType::u32, ElementType::i32,  ElementType::u64, ElementType::i64,
    ElementType::f32, ElementType::f64,  ElementType::u16, ElementType::i16,
    ElementType::f16, ElementType::bf16, ElementType::u8,  ElementType::i8};

/// By sharp_reduce_op.
constexpr std::array<OpKind, SHARP_OP_NULL> operations = {
    OpKind::max, OpKind::min, OpKind::sum,  OpKind::prod, OpKind::land,   OpKind::band,
    OpKind::lor, OpKind::bor, OpKind::lxor, OpKind::bxor, OpKind::maxloc, OpKind::minloc};

/// Of a value of that sharp_datatype and a tag of 32 bits.
ElementType pair_of(unsigned value) noexcept {
  switch (value) {
    case SHARP_DTYPE_FLOAT:
      return ElementType::pair_f32_i32;
    case SHARP_DTYPE_DOUBLE:
      return ElementType::pair_f64_i32;
    case SHARP_DTYPE_LONG:
      return ElementType::pair_i64_i32;
    case SHARP_DTYPE_INT:
      return ElementType::pair_i32_i32;
    case SHARP_DTYPE_SHORT:
      return ElementType::pair_i16_i32;
    default:
      return ElementType::none;
  }
}

ElementType type_of(const sharp_coll_reduce_spec& spec, OpKind op) noexcept {
  const unsigned value = number_of(spec.dtype);
  if (op == OpKind::maxloc || op == OpKind::minloc)
    return number_of(spec.tag_dtype) == SHARP_DTYPE_INT ? pair_of(value) : ElementType::none;
  return value < types.size() ? types[value] : ElementType::none;
}

}  // namespace

std::optional<Reduction> reduction_of(const sharp_coll_reduce_spec& spec) noexcept {
  const unsigned number = number_of(spec.op);
  if (number >= operations.size()) return std::nullopt;
  const OpKind op = operations[number];
  const ElementType type = type_of(spec, op);
  if (type == ElementType::none || !kernels::supported(op, type)) return std::nullopt;
  return Reduction{type, op};
}

std::uint64_t all_types() noexcept {
  return (std::uint64_t{1} << types.size()) - 1;
}

std::uint64_t all_tag_types() noexcept {
  return std::uint64_t{1} << SHARP_DTYPE_INT;
}

std::uint64_t all_operations() noexcept {
  return (std::uint64_t{1} << operations.size()) - 1;
}

}  // namespace hocket::sharp
