// The seed of random data: printed, and TEST_SEED repeats a run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace hocket::harness {

inline std::uint64_t test_seed() {
  static const std::uint64_t chosen = [] {
    const char* given = std::getenv("TEST_SEED");
    const std::uint64_t value = given ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    std::printf("TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
    return value;
  }();
  return chosen;
}

}  // namespace hocket::harness
