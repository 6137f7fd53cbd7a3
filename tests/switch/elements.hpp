// Random elements of every type, and what a tree makes of them by the definitions of the reductions.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "member.hpp"
#include "tree_shape.hpp"
#include "unit/kernels_reference.hpp"

namespace hocket::harness {

using kernels::ElementType;
using kernels::OpKind;

class Elements {
 public:
  explicit Elements(std::uint64_t seed) : random_(seed) {}

  /// Values that sums and products of a few keep finite.
  Bytes of(ElementType type, std::size_t count) {
    Bytes data;
    for (std::size_t i = 0; i < count; ++i) add(type, data);
    return data;
  }
  std::size_t below(std::size_t end) { return random_() % end; }

 private:
  template <class Value>
  static void put(Bytes& data, const Value& value) {
    const std::size_t at = data.size();
    data.resize(at + sizeof value);
    if constexpr (std::is_same_v<Value, long double>)
      kernels::reference::put(reinterpret_cast<unsigned char*>(data.data()) + at, value);
    else
      std::memcpy(data.data() + at, &value, sizeof value);
  }
  template <class Value>
  Value real() {
    return static_cast<Value>(std::uniform_real_distribution<double>(-2, 2)(random_));
  }
  template <class Value>
  void put_pair(Bytes& data) {
    struct Pair {
      Value value;
      std::int32_t index;
    };
    const std::size_t at = data.size();
    data.resize(at + sizeof(Pair));  // gaps are zero
    const Pair pair{static_cast<Value>(below(4)), static_cast<std::int32_t>(below(8))};
    std::memcpy(data.data() + at, &pair.value, std::is_same_v<Value, long double> ? 10 : sizeof(Value));
    std::memcpy(data.data() + at + offsetof(Pair, index), &pair.index, sizeof pair.index);
  }

  void add(ElementType type, Bytes& data) {
    switch (type) {
      case ElementType::f16:
        return put(data, kernels::reference::f16_bits(real<float>()));
      case ElementType::bf16:
        return put(data, kernels::reference::bf16_bits(real<float>()));
      case ElementType::f32:
        return put(data, real<float>());
      case ElementType::f64:
        return put(data, real<double>());
      case ElementType::f80:
        return put(data, real<long double>());
      case ElementType::c32:
        return put(data, real<float>()), put(data, real<float>());
      case ElementType::c64:
        return put(data, real<double>()), put(data, real<double>());
      case ElementType::c80:
        return put(data, real<long double>()), put(data, real<long double>());
      case ElementType::bool8:
        return put(data, below(2) == 1);
      case ElementType::pair_f32_i32:
        return put_pair<float>(data);
      case ElementType::pair_f64_i32:
        return put_pair<double>(data);
      case ElementType::pair_i64_i32:
        return put_pair<std::int64_t>(data);
      case ElementType::pair_i32_i32:
        return put_pair<std::int32_t>(data);
      case ElementType::pair_i16_i32:
        return put_pair<std::int16_t>(data);
      case ElementType::pair_f80_i32:
        return put_pair<long double>(data);
      case ElementType::pair_f32_f32:
        return put(data, static_cast<float>(below(4))), put(data, static_cast<float>(below(8)));
      case ElementType::pair_f64_f64:
        return put(data, static_cast<double>(below(4))), put(data, static_cast<double>(below(8)));
      default:
        for (std::size_t i = kernels::element_size(type); i > 0; --i)
          put(data, static_cast<std::uint8_t>(random_()));
    }
  }

  std::mt19937_64 random_;
};

/// ((first op second) op third) ..., element by element.
inline Bytes folded(OpKind op, ElementType type, const std::vector<Bytes>& data) {
  Bytes result = data.front();
  const std::size_t size = kernels::element_size(type);
  for (std::size_t i = 1; i < data.size(); ++i)
    for (std::size_t at = 0; at < result.size(); at += size) {
      std::vector<unsigned char> out(size);
      kernels::reference::apply(op, type, out.data(), reinterpret_cast<const unsigned char*>(&result[at]),
                                reinterpret_cast<const unsigned char*>(&data[i][at]));
      std::memcpy(&result[at], out.data(), size);
    }
  return result;
}

/// What so many switches make of it, the i-th part being under the one of number i % switches.
inline std::vector<Bytes> level_of(OpKind op, ElementType type, const std::vector<Bytes>& data,
                                   std::size_t switches) {
  std::vector<std::vector<Bytes>> below(switches);
  for (std::size_t i = 0; i < data.size(); ++i) below[i % switches].push_back(data[i]);
  std::vector<Bytes> combined;
  for (const auto& part : below)
    if (!part.empty()) combined.push_back(folded(op, type, part));
  return combined;
}

/// As a tree of that shape does it.
inline Bytes in_tree_order(OpKind op, ElementType type, std::vector<Bytes> data, const TreeShape& shape) {
  for (const std::size_t switches : {shape.leaves, shape.inner})
    if (switches != 0) data = level_of(op, type, data, switches);
  return folded(op, type, data);
}

inline bool are_same(OpKind op, ElementType type, const Bytes& one, const Bytes& other) {
  const std::size_t size = kernels::element_size(type);
  if (one.size() != other.size()) return false;
  for (std::size_t at = 0; at < one.size(); at += size)
    if (!kernels::reference::same(op, type, reinterpret_cast<const unsigned char*>(&one[at]),
                                  reinterpret_cast<const unsigned char*>(&other[at])))
      return false;
  return true;
}

}  // namespace hocket::harness
