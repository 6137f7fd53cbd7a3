// The words by which a recipe names the levels of the machine that it follows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace hocket::passes {

enum class Level : std::uint8_t {
  sockets,   ///< ranks that are bound to the same socket
  nodes,     ///< ranks that share a node
  leaves,    ///< nodes under the same switch of the lowest level
  switches,  ///< every level of switches, the lowest as well
};
inline constexpr std::size_t level_words = 4;
inline constexpr std::array<std::string_view, level_words> level_names = {"sockets", "nodes", "leaves",
                                                                          "switches"};

/// Which levels a hierarchy has, and how wide the trees inside their groups are.
class By {
 public:
  static constexpr std::int16_t preset = 0;   ///< as wide as is usual for the collective
  static constexpr std::int16_t slices = -2;  ///< for reductions none: everybody folds a slice for the leader

  void add(Level level, std::int16_t radix = preset) { radix_[static_cast<std::size_t>(level)] = radix; }
  bool has(Level level) const { return radix_[static_cast<std::size_t>(level)] != none; }
  std::int16_t radix(Level level) const { return radix_[static_cast<std::size_t>(level)]; }
  bool has_slices() const { return std::ranges::find(radix_, slices) != radix_.end(); }
  bool empty() const { return *this == By{}; }
  bool operator==(const By&) const = default;

 private:
  static constexpr std::int16_t none = -1;
  std::array<std::int16_t, level_words> radix_{none, none, none, none};
};

}  // namespace hocket::passes
