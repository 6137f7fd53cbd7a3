#include <cstdint>

#include "fft3d/verification.hpp"

namespace fft3d {
namespace {

// splitmix64 (Steele, Lea and Flood 2014)
std::uint64_t mixed(std::uint64_t n) {
  n += 0x9e3779b97f4a7c15U;
  n = (n ^ (n >> 30U)) * 0xbf58476d1ce4e5b9U;
  n = (n ^ (n >> 27U)) * 0x94d049bb133111ebU;
  return n ^ (n >> 31U);
}

double from_minus_one_to_one(std::uint64_t n) {
  return static_cast<double>(mixed(n) >> 11U) * 0x1p-52 - 1;
}

}  // namespace

Array noise(const Extents& n, int field, const RankGrid::Part& part) {
  const std::uint64_t first = product(n) * static_cast<std::uint64_t>(field);
  Array values;
  values.reserve(product(part));
  for (int x = part.x.begin; x < part.x.begin + part.x.count; ++x)
    for (int y = part.y.begin; y < part.y.begin + part.y.count; ++y)
      for (int z = part.z.begin; z < part.z.begin + part.z.count; ++z) {
        const std::uint64_t place = first + (static_cast<std::uint64_t>(x) * n[1] + y) * n[2] + z;
        values.emplace_back(from_minus_one_to_one(2 * place), from_minus_one_to_one(2 * place + 1));
      }
  return values;
}

}  // namespace fft3d
