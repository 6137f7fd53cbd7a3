// The tests' own idea of every reduction: one element at a time, from the standard's definitions, sharing no
// code with src/kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/kernels.hpp"

namespace hocket::kernels::reference {

template <class T>
T get(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <class T>
void put(unsigned char* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

inline void put(unsigned char* at, long double value) {
  std::memset(at, 0, sizeof(value));
  std::memcpy(at, &value,
              sizeof(value) == 16 && std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(value));
}

// binary16 by its definition; a NaN's sign and quietened payload are kept.
inline float f16_value(std::uint16_t h) {
  const int exponent = h >> 10 & 31;
  const int mantissa = h & 1023;
  float magnitude;
  if (exponent == 31) {
    const std::uint32_t nan = 0x7fc00000u | static_cast<std::uint32_t>(mantissa) << 13;
    magnitude = mantissa == 0 ? INFINITY : get<float>(reinterpret_cast<const unsigned char*>(&nan));
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
  }
  return std::copysign(magnitude, (h & 0x8000) != 0 ? -1.0f : 1.0f);
}

inline std::uint16_t f16_bits(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (std::isnan(value)) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return static_cast<std::uint16_t>(sign | 0x7e00 | (bits >> 13 & 0x3ff));
  }
  if (magnitude >= 65520.0) return sign | 0x7c00;
  int exponent = magnitude < 0x1p-14 ? -14 : std::ilogb(magnitude);
  const int scaled = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));  // 0 .. 2048
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + scaled));
}

inline float bf16_value(std::uint16_t h) {
  const std::uint32_t bits = static_cast<std::uint32_t>(h) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

inline std::uint16_t bf16_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  const std::uint32_t low = bits & 0xffff;
  const std::uint16_t high = static_cast<std::uint16_t>(bits >> 16);
  const bool up = low > 0x8000 || (low == 0x8000 && (high & 1) != 0);
  return static_cast<std::uint16_t>(high + (up ? 1 : 0));
}

template <class T>
T real(OpKind op, T a, T b) {
  switch (op) {
    case OpKind::sum:
      return a + b;
    case OpKind::prod:
      return a * b;
    case OpKind::max:
      return b > a ? b : a;
    default:
      return b < a ? b : a;
  }
}

// max and min choose an operand as it is; sum and prod round.
inline void bf16_at(OpKind op, unsigned char* out, std::uint16_t a, std::uint16_t b) {
  const float left = bf16_value(a), right = bf16_value(b);
  if (op == OpKind::max) return put(out, right > left ? b : a);
  if (op == OpKind::min) return put(out, right < left ? b : a);
  put(out, bf16_bits(real(op, left, right)));
}

template <class T>
T integer(OpKind op, T a, T b) {
  using Wide = unsigned __int128;
  switch (op) {
    case OpKind::sum:
      return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
    case OpKind::prod:
      return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
    case OpKind::max:
      return a > b ? a : b;
    case OpKind::min:
      return a < b ? a : b;
    case OpKind::land:
      return a && b;
    case OpKind::lor:
      return a || b;
    case OpKind::lxor:
      return !a != !b;
    case OpKind::band:
      return a & b;
    case OpKind::bor:
      return a | b;
    default:
      return a ^ b;
  }
}

template <class T>
void integer_at(OpKind op, unsigned char* out, const unsigned char* a, const unsigned char* b) {
  put(out, integer(op, get<T>(a), get<T>(b)));
}

template <class T>
void real_at(OpKind op, unsigned char* out, const unsigned char* a, const unsigned char* b) {
  put(out, real(op, get<T>(a), get<T>(b)));
}

template <class T>
void complex_at(OpKind op, unsigned char* out, const unsigned char* a, const unsigned char* b) {
  const T ar = get<T>(a), ai = get<T>(a + sizeof(T)), br = get<T>(b), bi = get<T>(b + sizeof(T));
  const T re = op == OpKind::sum ? ar + br : ar * br - ai * bi;
  const T im = op == OpKind::sum ? ai + bi : ar * bi + ai * br;
  put(out, re);
  put(out + sizeof(T), im);
}

template <class Value, class Index, std::size_t index_offset = sizeof(Value)>
void pair_at(OpKind op, unsigned char* out, const unsigned char* a, const unsigned char* b) {
  const Value av = get<Value>(a), bv = get<Value>(b);
  const Index ai = get<Index>(a + index_offset), bi = get<Index>(b + index_offset);
  const bool better = op == OpKind::maxloc ? bv > av : bv < av;
  const bool right = better || (av == bv && bi < ai);
  put(out, right ? bv : av);
  put(out + index_offset, right ? bi : ai);
}

// out = a op b; out may be a or b.
inline void apply(OpKind op, ElementType type, unsigned char* out, const unsigned char* a,
                  const unsigned char* b) {
  unsigned char result[32] = {};
  switch (type) {
    case ElementType::i8:
      integer_at<std::int8_t>(op, result, a, b);
      break;
    case ElementType::i16:
      integer_at<std::int16_t>(op, result, a, b);
      break;
    case ElementType::i32:
      integer_at<std::int32_t>(op, result, a, b);
      break;
    case ElementType::i64:
      integer_at<std::int64_t>(op, result, a, b);
      break;
    case ElementType::u8:
    case ElementType::bool8:
    case ElementType::byte:
      integer_at<std::uint8_t>(op, result, a, b);
      break;
    case ElementType::u16:
      integer_at<std::uint16_t>(op, result, a, b);
      break;
    case ElementType::u32:
    case ElementType::logical32:
      integer_at<std::uint32_t>(op, result, a, b);
      break;
    case ElementType::u64:
      integer_at<std::uint64_t>(op, result, a, b);
      break;
    case ElementType::f16:
      put(result, f16_bits(real(op, f16_value(get<std::uint16_t>(a)), f16_value(get<std::uint16_t>(b)))));
      break;
    case ElementType::bf16:
      bf16_at(op, result, get<std::uint16_t>(a), get<std::uint16_t>(b));
      break;
    case ElementType::f32:
      real_at<float>(op, result, a, b);
      break;
    case ElementType::f64:
      real_at<double>(op, result, a, b);
      break;
    case ElementType::f80:
      real_at<long double>(op, result, a, b);
      break;
    case ElementType::c32:
      complex_at<float>(op, result, a, b);
      break;
    case ElementType::c64:
      complex_at<double>(op, result, a, b);
      break;
    case ElementType::c80:
      complex_at<long double>(op, result, a, b);
      break;
    case ElementType::pair_f32_i32:
      pair_at<float, std::int32_t>(op, result, a, b);
      break;
    case ElementType::pair_f64_i32:
      pair_at<double, std::int32_t>(op, result, a, b);
      break;
    case ElementType::pair_i64_i32:
      pair_at<std::int64_t, std::int32_t>(op, result, a, b);
      break;
    case ElementType::pair_i32_i32:
      pair_at<std::int32_t, std::int32_t>(op, result, a, b);
      break;
    case ElementType::pair_i16_i32:
      pair_at<std::int16_t, std::int32_t, 4>(op, result, a, b);
      break;
    case ElementType::pair_f80_i32:
      pair_at<long double, std::int32_t>(op, result, a, b);
      break;
    case ElementType::pair_f32_f32:
      pair_at<float, float>(op, result, a, b);
      break;
    case ElementType::pair_f64_f64:
      pair_at<double, double>(op, result, a, b);
      break;
    case ElementType::none:
      break;
  }
  std::memcpy(out, result, element_size(type));
}

template <class T>
bool both_nan(const unsigned char* a, const unsigned char* b) {
  return std::isnan(get<T>(a)) && std::isnan(get<T>(b));
}

inline bool both_nan_f16(const unsigned char* a, const unsigned char* b) {
  return std::isnan(f16_value(get<std::uint16_t>(a))) && std::isnan(f16_value(get<std::uint16_t>(b)));
}

inline bool both_nan_bf16(const unsigned char* a, const unsigned char* b) {
  return std::isnan(bf16_value(get<std::uint16_t>(a))) && std::isnan(bf16_value(get<std::uint16_t>(b)));
}

template <class T>
bool same_parts(const unsigned char* a, const unsigned char* b, std::size_t parts) {
  for (std::size_t i = 0; i < parts; ++i, a += sizeof(T), b += sizeof(T))
    if (std::memcmp(a, b, sizeof(T)) != 0 && !both_nan<T>(a, b)) return false;
  return true;
}

// Equal bit for bit, or, where sum or prod made a NaN, both NaN.
inline bool same(OpKind op, ElementType type, const unsigned char* a, const unsigned char* b) {
  if (std::memcmp(a, b, element_size(type)) == 0) return true;
  if (op != OpKind::sum && op != OpKind::prod) return false;
  switch (type) {
    case ElementType::f16:
      return both_nan_f16(a, b);
    case ElementType::bf16:
      return both_nan_bf16(a, b);
    case ElementType::f32:
      return same_parts<float>(a, b, 1);
    case ElementType::f64:
      return same_parts<double>(a, b, 1);
    case ElementType::f80:
      return same_parts<long double>(a, b, 1);
    case ElementType::c32:
      return same_parts<float>(a, b, 2);
    case ElementType::c64:
      return same_parts<double>(a, b, 2);
    case ElementType::c80:
      return same_parts<long double>(a, b, 2);
    default:
      return false;
  }
}

}  // namespace hocket::kernels::reference
