// Saitou and Nei, "The neighbor-joining method", 1987, with the criterion as Studier and Keppler wrote it in
// 1988: the tree, with lengths of its edges, whose distances come near to those that were measured.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/latency_matrix.hpp"

namespace hocket::topology {

/// Without a root. Vertices 0 to leaves - 1 are the hosts; all others have three edges.
struct JoinedTree {
  struct Edge {
    std::uint32_t to;
    double length;  ///< not below 0
  };
  std::vector<std::vector<Edge>> edges;  ///< of each vertex
};

/// For two hosts at least. Time grows with the third power of their number.
JoinedTree join_neighbours(const LatencyMatrix& matrix);

}  // namespace hocket::topology
