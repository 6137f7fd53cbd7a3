// Fills one instruction set's table. Included by isa_*.cpp only.
//
// Types of the same width share a kernel where signs do not matter, which keeps the library small.
#pragma once

#include "kernels/reduce/arithmetic.hpp"
#include "kernels/reduce/complex.hpp"
#include "kernels/reduce/half.hpp"
#include "kernels/reduce/long_double.hpp"
#include "kernels/reduce/loop.hpp"
#include "kernels/reduce/pair.hpp"
#include "kernels/table.hpp"

namespace hocket::kernels::HOCKET_KERNELS_ISA {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "pairs and bf16 assume little endian");

class TableBuilder {
 public:
  constexpr explicit TableBuilder(const char* isa) : table_{isa, {}} {}

  constexpr Table build() {
    add_integers();
    add_truth_values();
    add_floats();
    add_complex();
    add_pairs();
    return table_;
  }

 private:
  template <class K>
  constexpr void add(OpKind op, ElementType type) {
    table_.functions[static_cast<int>(op)][static_cast<int>(type)] = reduce<K>;
  }

  template <class T>
  constexpr void add_bitwise(ElementType type) {
    add<Arithmetic<T, BitAnd>>(OpKind::band, type);
    add<Arithmetic<T, BitOr>>(OpKind::bor, type);
    add<Arithmetic<T, BitXor>>(OpKind::bxor, type);
  }

  template <class T>
  constexpr void add_logical(ElementType type) {
    add<Arithmetic<T, LogicalAnd>>(OpKind::land, type);
    add<Arithmetic<T, LogicalOr>>(OpKind::lor, type);
    add<Arithmetic<T, LogicalXor>>(OpKind::lxor, type);
  }

  template <class T>
  constexpr void add_integer(ElementType type) {
    using Unsigned = typename IntegerOf<sizeof(T)>::Unsigned;
    add<Arithmetic<Unsigned, Sum>>(OpKind::sum, type);
    add<Arithmetic<Unsigned, Prod>>(OpKind::prod, type);
    add<Arithmetic<T, Max>>(OpKind::max, type);
    add<Arithmetic<T, Min>>(OpKind::min, type);
    add_bitwise<Unsigned>(type);
    add_logical<Unsigned>(type);
  }

  constexpr void add_integers() {
    add_integer<std::int8_t>(ElementType::i8);
    add_integer<std::int16_t>(ElementType::i16);
    add_integer<std::int32_t>(ElementType::i32);
    add_integer<std::int64_t>(ElementType::i64);
    add_integer<std::uint8_t>(ElementType::u8);
    add_integer<std::uint16_t>(ElementType::u16);
    add_integer<std::uint32_t>(ElementType::u32);
    add_integer<std::uint64_t>(ElementType::u64);
    add_bitwise<std::uint8_t>(ElementType::byte);
  }

  constexpr void add_truth_values() {
    add_logical<std::uint8_t>(ElementType::bool8);
    add_logical<std::uint32_t>(ElementType::logical32);
  }

  template <template <class> class Kernel>
  constexpr void add_float(ElementType type) {
    add<Kernel<Sum>>(OpKind::sum, type);
    add<Kernel<Prod>>(OpKind::prod, type);
    add<Kernel<Max>>(OpKind::max, type);
    add<Kernel<Min>>(OpKind::min, type);
  }

  template <class Format>
  constexpr void add_short_float(ElementType type) {
    add<ShortFloat<Format, Sum, true>>(OpKind::sum, type);
    add<ShortFloat<Format, Prod, true>>(OpKind::prod, type);
    add<ShortFloat<Format, Max, false>>(OpKind::max, type);
    add<ShortFloat<Format, Min, false>>(OpKind::min, type);
  }

  template <class Operation>
  using Single = Arithmetic<float, Operation>;
  template <class Operation>
  using Double = Arithmetic<double, Operation>;
  template <class Operation>
  using Extended = LongDoubleKernel<LongDouble, Operation>;

  constexpr void add_floats() {
    add_short_float<F16>(ElementType::f16);
    add_short_float<Bf16>(ElementType::bf16);
    add_float<Single>(ElementType::f32);
    add_float<Double>(ElementType::f64);
    add_float<Extended>(ElementType::f80);
  }

  constexpr void add_complex() {
    add<ComplexAsReals<float, Sum>>(OpKind::sum, ElementType::c32);
    add<ComplexAsReals<double, Sum>>(OpKind::sum, ElementType::c64);
    add<LongDoubleKernel<ComplexLongDouble, Sum>>(OpKind::sum, ElementType::c80);
    add<ComplexProd<float>>(OpKind::prod, ElementType::c32);
    add<ComplexProd<double>>(OpKind::prod, ElementType::c64);
    add<LongDoubleKernel<ComplexLongDouble, Prod>>(OpKind::prod, ElementType::c80);
  }

  template <class Value, int value_bits, class Index, int index_bits>
  constexpr void add_pair(ElementType type) {
    add<Pair<Value, value_bits, Index, index_bits, Greater>>(OpKind::maxloc, type);
    add<Pair<Value, value_bits, Index, index_bits, Less>>(OpKind::minloc, type);
  }

  constexpr void add_pairs() {
    add_pair<float, 32, std::int32_t, 32>(ElementType::pair_f32_i32);
    add_pair<double, 64, std::int64_t, 32>(ElementType::pair_f64_i32);
    add_pair<std::int64_t, 64, std::int64_t, 32>(ElementType::pair_i64_i32);
    add_pair<std::int32_t, 32, std::int32_t, 32>(ElementType::pair_i32_i32);
    add_pair<std::int32_t, 16, std::int32_t, 32>(ElementType::pair_i16_i32);
    add_pair<float, 32, float, 32>(ElementType::pair_f32_f32);
    add_pair<double, 64, double, 64>(ElementType::pair_f64_f64);
    add<LongDoubleKernel<LongDoublePair, LongDoubleLoc<Greater>>>(OpKind::maxloc, ElementType::pair_f80_i32);
    add<LongDoubleKernel<LongDoublePair, LongDoubleLoc<Less>>>(OpKind::minloc, ElementType::pair_f80_i32);
  }

  Table table_;
};

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
