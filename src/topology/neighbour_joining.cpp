#include "topology/neighbour_joining.hpp"

#include <algorithm>
#include <limits>

namespace hocket::topology {
namespace {

using Number = std::uint32_t;

class Joiner {
 public:
  explicit Joiner(const LatencyMatrix& matrix)
      : stride_(matrix.hosts.size()),
        left_(stride_),
        distances_(matrix.us),
        vertices_(stride_),
        sums_(stride_) {
    for (std::size_t a = 0; a < stride_; ++a) {
      vertices_[a] = static_cast<Number>(a);
      distances_[a * stride_ + a] = 0;
      for (std::size_t b = 0; b < stride_; ++b) sums_[a] += distance(a, b);
    }
    tree_.edges.resize(stride_);
  }

  JoinedTree join() {
    while (left_ > 2) join_nearest();
    connect(vertices_[0], vertices_[1], distance(0, 1));
    return std::move(tree_);
  }

 private:
  struct Pair {
    std::size_t a, b;  // b < a
  };

  double& distance(std::size_t a, std::size_t b) { return distances_[a * stride_ + b]; }

  /// Near each other, and far from all others.
  Pair nearest() {
    Pair best = {1, 0};
    double least = std::numeric_limits<double>::infinity();
    const auto others = static_cast<double>(left_ - 2);
    for (std::size_t a = 1; a < left_; ++a) {
      const double* row = &distances_[a * stride_];
      for (std::size_t b = 0; b < a; ++b) {
        const double value = others * row[b] - sums_[a] - sums_[b];
        if (value < least) least = value, best = {a, b};
      }
    }
    return best;
  }

  void connect(Number a, Number b, double length) {
    length = std::max(length, 0.0);
    tree_.edges[a].push_back({b, length});
    tree_.edges[b].push_back({a, length});
  }

  void join_nearest() {
    const auto [a, b] = nearest();
    const double apart = distance(a, b);
    const double to_a = apart / 2 + (sums_[a] - sums_[b]) / (2 * static_cast<double>(left_ - 2));
    const auto made = static_cast<Number>(tree_.edges.size());
    tree_.edges.emplace_back();
    connect(made, vertices_[a], to_a);
    connect(made, vertices_[b], apart - to_a);
    put_in_place_of(a, b, apart);
    vertices_[b] = made;
    move_last_to(a);
  }

  /// The new vertex takes b's row.
  void put_in_place_of(std::size_t a, std::size_t b, double apart) {
    sums_[b] = 0;
    for (std::size_t i = 0; i < left_; ++i) {
      if (i == a || i == b) continue;
      const double from_a = distance(a, i), from_b = distance(b, i);
      const double now = (from_a + from_b - apart) / 2;
      sums_[i] += now - from_a - from_b;
      sums_[b] += now;
      distance(b, i) = distance(i, b) = now;
    }
  }

  void move_last_to(std::size_t a) {
    const std::size_t last = --left_;
    if (a == last) return;
    for (std::size_t i = 0; i < last; ++i) distance(a, i) = distance(i, a) = distance(last, i);
    distance(a, a) = 0;
    vertices_[a] = vertices_[last];
    sums_[a] = sums_[last];
  }

  const std::size_t stride_;
  std::size_t left_;  ///< vertices that are not joined yet: the first rows
  std::vector<double> distances_;
  std::vector<Number> vertices_;  ///< of each row
  std::vector<double> sums_;      ///< of each row
  JoinedTree tree_;
};

}  // namespace

JoinedTree join_neighbours(const LatencyMatrix& matrix) {
  return Joiner(matrix).join();
}

}  // namespace hocket::topology
