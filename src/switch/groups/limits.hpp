// What a switch promises each job. All switches of a tree are started with the same limits.
#pragma once

#include <cstdint>

namespace hocket::aggregation {

struct Limits {
  std::uint32_t children = 252;  ///< connected at a time
  std::uint32_t jobs = 64;
  // of a job
  std::uint32_t groups = 167;
  std::uint32_t operations = 167;  ///< outstanding, in all its groups
  // of a group
  std::uint32_t operations_per_group = 8;          ///< outstanding, in each mode
  std::uint32_t payload = 1024;                    ///< bytes of an operation in small mode
  std::uint64_t window = std::uint64_t{1} << 20U;  ///< bytes that a child may be ahead, in streaming mode
  bool can_stream = true;
  double join_seconds = 30;  ///< from a group's first member to its last
};

}  // namespace hocket::aggregation
