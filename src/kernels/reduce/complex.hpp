// Product of complex numbers, written out: (ac - bd) + (ad + bc)i, without the recovery of infinities that
// C's Annex G allows and MPI does not ask for. (Their sum is the sum of twice as many reals.)
#pragma once

#include "kernels/reduce/arithmetic.hpp"

namespace hocket::kernels::HOCKET_KERNELS_ISA {

template <class T, class Operation>
struct ComplexAsReals : Arithmetic<T, Operation> {
  static constexpr int unit = 2 * sizeof(T);
};

template <class T>
struct ComplexProd {
  static constexpr int unit = 2 * sizeof(T);
  static constexpr int widest = vector_bytes;
  static constexpr int registers = 4;

  template <int Bytes>
  HOCKET_KERNELS_INLINE static Vector<T, Bytes> load(const char* from) {
    return load_bytes<Vector<T, Bytes>>(from);
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Vector<T, Bytes> apply(Vector<T, Bytes> a, Vector<T, Bytes> b) {
    using V = Vector<T, Bytes>;
    using Unsigned = typename IntegerOf<sizeof(T)>::Unsigned;
    using Bits = Vector<Unsigned, Bytes>;
    const V straight = spread_even(a) * b;
    const V crossed = spread_odd(a) * swap_neighbours(b);
    const Bits minus = alternating<Bits, Unsigned>(Unsigned{1} << (8 * sizeof(T) - 1), 0);
    return straight + bits_as<V>(bits_as<Bits>(crossed) ^ minus);
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static void store(char* to, Vector<T, Bytes> value) {
    store_bytes(to, value);
  }
};

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
