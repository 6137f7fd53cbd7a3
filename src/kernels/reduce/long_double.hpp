// long double, complex of it, and pairs with an int: one element at a time, as no vector unit has the type.
// Stores write every byte of the element: an x87 number leaves six of sixteen undefined otherwise.
#pragma once

#include <cfloat>

#include "kernels/reduce/arithmetic.hpp"

namespace hocket::kernels::HOCKET_KERNELS_ISA {

HOCKET_KERNELS_INLINE void store_long_double(char* to, long double value) {
#if LDBL_MANT_DIG == 64
  char bytes[sizeof(long double)] = {};
  __builtin_memcpy(bytes, &value, 10);
  __builtin_memcpy(to, bytes, sizeof(bytes));
#else
  __builtin_memcpy(to, &value, sizeof(value));
#endif
}

template <class Element, class Operation>
struct LongDoubleKernel {
  static constexpr int unit = Element::bytes;
  static constexpr int widest = unit;
  static constexpr int registers = 2;

  template <int Bytes>
  HOCKET_KERNELS_INLINE static Element load(const char* from) {
    return Element::load(from);
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Element apply(const Element& a, const Element& b) {
    return Operation::of(a, b);
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static void store(char* to, const Element& value) {
    value.store(to);
  }
};

struct LongDouble {
  static constexpr int bytes = sizeof(long double);
  long double value;

  HOCKET_KERNELS_INLINE static LongDouble load(const char* from) { return {load_bytes<long double>(from)}; }
  HOCKET_KERNELS_INLINE void store(char* to) const { store_long_double(to, value); }

  HOCKET_KERNELS_INLINE friend LongDouble operator+(LongDouble a, LongDouble b) {
    return {a.value + b.value};
  }
  HOCKET_KERNELS_INLINE friend LongDouble operator*(LongDouble a, LongDouble b) {
    return {a.value * b.value};
  }
  HOCKET_KERNELS_INLINE friend bool operator<(LongDouble a, LongDouble b) { return a.value < b.value; }
};

struct ComplexLongDouble {
  static constexpr int bytes = 2 * sizeof(long double);
  long double re, im;

  HOCKET_KERNELS_INLINE static ComplexLongDouble load(const char* from) {
    return {load_bytes<long double>(from), load_bytes<long double>(from + sizeof(long double))};
  }
  HOCKET_KERNELS_INLINE void store(char* to) const {
    store_long_double(to, re);
    store_long_double(to + sizeof(long double), im);
  }

  HOCKET_KERNELS_INLINE friend ComplexLongDouble operator+(ComplexLongDouble a, ComplexLongDouble b) {
    return {a.re + b.re, a.im + b.im};
  }
  HOCKET_KERNELS_INLINE friend ComplexLongDouble operator*(ComplexLongDouble a, ComplexLongDouble b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

struct LongDoublePair {
  static constexpr int bytes = 2 * sizeof(long double);
  long double value;
  std::int32_t index;

  HOCKET_KERNELS_INLINE static LongDoublePair load(const char* from) {
    return {load_bytes<long double>(from), load_bytes<std::int32_t>(from + sizeof(long double))};
  }
  HOCKET_KERNELS_INLINE void store(char* to) const {
    store_long_double(to, value);
    char second[sizeof(long double)] = {};
    __builtin_memcpy(second, &index, sizeof(index));
    __builtin_memcpy(to + sizeof(long double), second, sizeof(second));
  }
};

template <class Better>
struct LongDoubleLoc {
  HOCKET_KERNELS_INLINE static LongDoublePair of(const LongDoublePair& a, const LongDoublePair& b) {
    const bool take = Better::of(a.value, b.value) || (a.value == b.value && b.index < a.index);
    return take ? b : a;
  }
};

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
