// Operations on types that the processor computes with directly: integers, f32, f64, truth values.
// The same expressions serve vectors and single elements.
#pragma once

#include "kernels/reduce/vectors.hpp"

namespace hocket::kernels::HOCKET_KERNELS_ISA {

// Integers come in as unsigned for sum and prod, so that overflow wraps.
struct Sum {
  template <class V>
  HOCKET_KERNELS_INLINE static V of(V a, V b) {
    return static_cast<V>(a + b);
  }
};

struct Prod {
  template <class V>
  HOCKET_KERNELS_INLINE static V of(V a, V b) {
    // Small unsigned integers are promoted to int, whose product can overflow: multiply as unsigned.
    if constexpr (requires { requires sizeof(V)<sizeof(int) && V(-1)> V(0); }) {
      return static_cast<V>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
    } else {
      return static_cast<V>(a * b);
    }
  }
};

struct Max {
  template <class V>
  HOCKET_KERNELS_INLINE static V of(V a, V b) {
    return a < b ? b : a;
  }
};

struct Min {
  template <class V>
  HOCKET_KERNELS_INLINE static V of(V a, V b) {
    return b < a ? b : a;
  }
};

struct BitAnd {
  template <class V>
  HOCKET_KERNELS_INLINE static V of(V a, V b) {
    return static_cast<V>(a & b);
  }
};

struct BitOr {
  template <class V>
  HOCKET_KERNELS_INLINE static V of(V a, V b) {
    return static_cast<V>(a | b);
  }
};

struct BitXor {
  template <class V>
  HOCKET_KERNELS_INLINE static V of(V a, V b) {
    return static_cast<V>(a ^ b);
  }
};

// A comparison of vectors yields all bits set, one of single elements yields 1: `& 1` makes them agree.
struct LogicalAnd {
  template <class V>
  HOCKET_KERNELS_INLINE static V of(V a, V b) {
    return (V)(((a != 0) & (b != 0)) & 1);
  }
};

struct LogicalOr {
  template <class V>
  HOCKET_KERNELS_INLINE static V of(V a, V b) {
    return (V)(((a | b) != 0) & 1);
  }
};

struct LogicalXor {
  template <class V>
  HOCKET_KERNELS_INLINE static V of(V a, V b) {
    return (V)(((a != 0) ^ (b != 0)) & 1);
  }
};

template <class T, class Operation>
struct Arithmetic {
  static constexpr int unit = sizeof(T);
  static constexpr int widest = vector_bytes;
  static constexpr int registers = 1;

  template <int Bytes>
  HOCKET_KERNELS_INLINE static Vector<T, Bytes> load(const char* from) {
    return load_bytes<Vector<T, Bytes>>(from);
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static Vector<T, Bytes> apply(Vector<T, Bytes> a, Vector<T, Bytes> b) {
    return Operation::of(a, b);
  }
  template <int Bytes>
  HOCKET_KERNELS_INLINE static void store(char* to, Vector<T, Bytes> value) {
    store_bytes(to, value);
  }
};

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
