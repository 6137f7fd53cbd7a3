// How many switches a tree has, and who is under whom.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace hocket::harness {

/// Member m is under leaf m % leaves, which is under the inner switch of number leaf % inner, if there are
/// any.
struct TreeShape {
  std::size_t leaves = 0;  ///< 0: a single switch
  std::size_t inner = 0;   ///< 0: the leaves are under the root

  std::size_t switches() const { return 1 + inner + leaves; }
  /// Of the root.
  unsigned height() const { return leaves == 0 ? 0 : inner == 0 ? 1 : 2; }
};

inline std::string name_of(const testing::TestParamInfo<TreeShape>& info) {
  return std::to_string(info.param.switches()) + (info.param.leaves == 0 ? "Switch" : "Switches");
}

}  // namespace hocket::harness
