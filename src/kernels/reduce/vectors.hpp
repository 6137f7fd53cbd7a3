// Vectors of the compiler's own (GCC and Clang vector extensions), as wide as the instruction set allows.
//
// Everything in reduce/ is compiled several times with different target flags. It lives in a namespace named
// after the instruction set and calls no function of the standard library, because an inline function
// compiled here for AVX-512 under a shared name could be the copy that the linker keeps for the whole
// program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#ifndef HOCKET_KERNELS_ISA
#error "set HOCKET_KERNELS_ISA to the name of the instruction set before including reduce/"
#endif

#define HOCKET_KERNELS_INLINE [[gnu::always_inline]] inline

namespace hocket::kernels::HOCKET_KERNELS_ISA {

#if defined(__AVX512BW__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

// `Bytes` bytes of T: a vector, or T itself if there is just one.
template <class T, int Bytes>
struct Lanes {
  typedef T Type __attribute__((vector_size(Bytes)));
};

template <class T, int Bytes>
  requires(sizeof(T) == Bytes)
struct Lanes<T, Bytes> {
  using Type = T;
};

template <class T, int Bytes>
using Vector = typename Lanes<T, Bytes>::Type;

template <int Bytes>
struct IntegerOf;
template <>
struct IntegerOf<1> {
  using Signed = std::int8_t;
  using Unsigned = std::uint8_t;
};
template <>
struct IntegerOf<2> {
  using Signed = std::int16_t;
  using Unsigned = std::uint16_t;
};
template <>
struct IntegerOf<4> {
  using Signed = std::int32_t;
  using Unsigned = std::uint32_t;
};
template <>
struct IntegerOf<8> {
  using Signed = std::int64_t;
  using Unsigned = std::uint64_t;
};

// V at any address, whatever the program stored there.
template <class V>
struct Memory {
  typedef V Type __attribute__((aligned(1), may_alias));
};

template <class V>
HOCKET_KERNELS_INLINE V load_bytes(const char* from) {
  return *reinterpret_cast<const typename Memory<V>::Type*>(from);
}

template <class V>
HOCKET_KERNELS_INLINE void store_bytes(char* to, const V& value) {
  *reinterpret_cast<typename Memory<V>::Type*>(to) = value;
}

template <class To, class From>
HOCKET_KERNELS_INLINE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

// Lane by lane conversion between integer widths: Bytes counts the From side.
template <class To, class From, int Bytes>
HOCKET_KERNELS_INLINE auto convert_lanes(Vector<From, Bytes> from) {
  if constexpr (Bytes == sizeof(From)) {
    return static_cast<To>(from);
  } else {
    return __builtin_convertvector(from, Vector<To, Bytes / sizeof(From) * sizeof(To)>);
  }
}

template <class V, std::size_t... I>
HOCKET_KERNELS_INLINE V spread_even(V v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, (I & ~std::size_t{1})...);
}

template <class V, std::size_t... I>
HOCKET_KERNELS_INLINE V spread_odd(V v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, (I | 1)...);
}

template <class V, std::size_t... I>
HOCKET_KERNELS_INLINE V swap_neighbours(V v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, (I ^ 1)...);
}

template <class V>
using Indices = std::make_index_sequence<sizeof(V) / sizeof(V{}[0])>;

// (a0, a1, a2, a3) -> (a0, a0, a2, a2)
template <class V>
HOCKET_KERNELS_INLINE V spread_even(V v) {
  return spread_even(v, Indices<V>{});
}

// (a0, a1, a2, a3) -> (a1, a1, a3, a3)
template <class V>
HOCKET_KERNELS_INLINE V spread_odd(V v) {
  return spread_odd(v, Indices<V>{});
}

// (a0, a1, a2, a3) -> (a1, a0, a3, a2)
template <class V>
HOCKET_KERNELS_INLINE V swap_neighbours(V v) {
  return swap_neighbours(v, Indices<V>{});
}

// The vector whose even lanes are `even` and whose odd lanes are `odd`.
template <class V, class T>
HOCKET_KERNELS_INLINE V alternating(T even, T odd) {
  V v{};
  for (std::size_t i = 0; i < sizeof(V) / sizeof(T); i += 2) {
    v[i] = even;
    v[i + 1] = odd;
  }
  return v;
}

}  // namespace hocket::kernels::HOCKET_KERNELS_ISA
