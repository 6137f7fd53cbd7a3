// Latencies between hosts, for clusters that tell nothing of their network.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/tree.hpp"

namespace hocket::topology {

struct LatencyMatrix {
  /// The work grows with the third power.
  static constexpr std::size_t most_hosts = 2048;

  std::vector<std::string> hosts;
  std::vector<double> us;  ///< hosts x hosts, the same in both directions, above 0 but for the diagonal

  double at(std::size_t a, std::size_t b) const { return us[a * hosts.size() + b]; }
};

/// A row for each host, its name first; a line of the names above, with any word in the corner or none. Words
/// stand apart by blanks or commas; '#' begins a remark. The two directions are averaged, what the diagonal
/// says does not count. Throws Error, which names line and column.
LatencyMatrix parse_latency_matrix(std::string_view text, std::string_view origin);

/// Groups within groups: neighbours joined, and the result cut into levels where the latencies have gaps that
/// are wider than their noise.
Tree tree_of(const LatencyMatrix& matrix);

}  // namespace hocket::topology
