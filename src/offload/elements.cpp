#include "offload/elements.hpp"

#include <array>

namespace hocket::offload {

namespace {

using kernels::ElementType;
using kernels::OpKind;

/// By kernels::OpKind. Of max and min of floating-point numbers switches may treat NaN, and zeros of both
/// signs, in a way of their own, as sums may round otherwise: all members get the same bits.
constexpr std::array<sharp_reduce_op, kernels::op_kind_count> operations = {
    SHARP_OP_SUM,  SHARP_OP_PROD, SHARP_OP_MAX, SHARP_OP_MIN,  SHARP_OP_LAND,   SHARP_OP_LOR,
    SHARP_OP_LXOR, SHARP_OP_BAND, SHARP_OP_BOR, SHARP_OP_BXOR, SHARP_OP_MAXLOC, SHARP_OP_MINLOC};

/// What a type consists of, element for element.
sharp_datatype simple(ElementType type) noexcept {
  switch (type) {
    case ElementType::i8:
      return SHARP_DTYPE_INT8;
    case ElementType::i16:
    case ElementType::pair_i16_i32:
      return SHARP_DTYPE_SHORT;
    case ElementType::i32:
    case ElementType::pair_i32_i32:
    case ElementType::logical32:  // its logical operations are an int's: nonzero is true, results are 1 and 0
      return SHARP_DTYPE_INT;
    case ElementType::i64:
    case ElementType::pair_i64_i32:
      return SHARP_DTYPE_LONG;
    case ElementType::u8:
    case ElementType::bool8:  // likewise
    case ElementType::byte:   // has bitwise operations alone
      return SHARP_DTYPE_UINT8;
    case ElementType::u16:
      return SHARP_DTYPE_UNSIGNED_SHORT;
    case ElementType::u32:
      return SHARP_DTYPE_UNSIGNED;
    case ElementType::u64:
      return SHARP_DTYPE_UNSIGNED_LONG;
    case ElementType::f16:
      return SHARP_DTYPE_FLOAT_SHORT;
    case ElementType::bf16:
      return SHARP_DTYPE_BFLOAT16;
    case ElementType::f32:
    case ElementType::c32:
    case ElementType::pair_f32_i32:
      return SHARP_DTYPE_FLOAT;
    case ElementType::f64:
    case ElementType::c64:
    case ElementType::pair_f64_i32:
      return SHARP_DTYPE_DOUBLE;
    default:
      return SHARP_DTYPE_NULL;
  }
}

bool is_complex(ElementType type) noexcept {
  return type == ElementType::c32 || type == ElementType::c64;
}

}  // namespace

std::optional<Reduction> reduction_of(OpKind op, ElementType type) noexcept {
  if (op == OpKind::none || !kernels::supported(op, type)) return std::nullopt;
  Reduction reduction{.type = simple(type),
                      .op = operations[static_cast<std::size_t>(op)],
                      .element_bytes = kernels::element_size(type)};
  if (reduction.type == SHARP_DTYPE_NULL) return std::nullopt;
  if (op == OpKind::maxloc || op == OpKind::minloc) reduction.tag_type = SHARP_DTYPE_INT;
  if (is_complex(type)) {  // sums are those of twice as many numbers; products are not
    if (op != OpKind::sum) return std::nullopt;
    reduction.element_bytes /= 2;
  }
  return reduction;
}

bool Repertoire::has(const Reduction& reduction) const noexcept {
  const bool is_of_pairs = reduction.tag_type != SHARP_DTYPE_NULL;
  return has_type(reduction.type) && ((operations >> reduction.op) & 1U) != 0 &&
         (!is_of_pairs || ((tag_types >> reduction.tag_type) & 1U) != 0);
}

}  // namespace hocket::offload
