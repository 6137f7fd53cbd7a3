// MAXLOC and MINLOC on (value, index) pairs whose halves lie in even and odd lanes of equal width.
//
// The value or index may be narrower than its lane (the rest is C padding): it is shifted to the top of the
// lane for comparison, which also gets rid of whatever the padding holds. Floating-point comparisons see
// values only, never index bits that happen to look like a NaN.
#pragma once

#include "kernels/reduce/arithmetic.hpp"

namespace hocket::kernels::HOCKET_KERNELS_ISA {

// Value and Index: types as wide as the lane, for comparison. *_bits: how many low bits of the lane they use.
template <class Value, int value_bits, class Index, int index_bits, class Better>
struct Pair {
  using Lane = typename IntegerOf<sizeof(Value)>::Unsigned;
  static constexpr int lane_bits = 8 * sizeof(Lane);
  static constexpr int unit = 2 * sizeof(Lane);
  static constexpr int widest = vector_bytes;
  static constexpr int registers = 2;

  template <int Bytes>
  using V = Vector<Lane, Bytes>;

  template <int Bytes>
  HOCKET_KERNELS_INLINE static V<Bytes> load(const char* from) {
    return load_bytes<V<Bytes>>(from);
  }

  template <int Bytes>
  HOCKET_KERNELS_INLINE static V<Bytes> apply(V<Bytes> a, V<Bytes> b) {
    const auto value_a = bits_as<Vector<Value, Bytes>>(spread_even(a) << (lane_bits - value_bits));
    const auto value_b = bits_as<Vector<Value, Bytes>>(spread_even(b) << (lane_bits - value_bits));
    const auto index_a = bits_as<Vector<Index, Bytes>>(spread_odd(a) << (lane_bits - index_bits));
    const auto index_b = bits_as<Vector<Index, Bytes>>(spread_odd(b) << (lane_bits - index_bits));
    const auto take = Better::of(value_a, value_b) | ((value_a == value_b) & (index_b < index_a));
    const V<Bytes> chosen = take ? b : a;
    constexpr Lane all = ~Lane{0};
    if constexpr (value_bits == lane_bits && index_bits == lane_bits) return chosen;
    return chosen &
           alternating<V<Bytes>, Lane>(all >> (lane_bits - value_bits), all >> (lane_bits - index_bits));
  }

  template <int Bytes>
  HOCKET_KERNELS_INLINE static void store(char* to, V<Bytes> value) {
    store_bytes(to, value);
  }
};

// Is the right value strictly better?
struct Greater {
  template <class V>
  HOCKET_KERNELS_INLINE static auto of(V a, V b) {
    return a < b;
  }
};

struct Less {
  template <class V>
  HOCKET_KERNELS_INLINE static auto of(V a, V b) {
    return b < a;
  }
};

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
