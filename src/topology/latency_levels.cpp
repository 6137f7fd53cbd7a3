// From a tree of joined neighbours, where all vertices have two below them, to levels. Neighbour joining says
// who belongs together, but neither where the root is nor which of its many vertices are one switch: even of
// hosts that are all equally far from each other it makes as many vertices as there are hosts. So:
//  1. the root is the middle of the longest way;
//  2. a vertex is as high as the latency from its one side to its other, in the median;
//  3. where the sorted heights have a gap that is wide against the noise, a level ends; the noise is how far
//     the latencies across a vertex are from its height;
//  4. a vertex that is of no lower level than the one above it is part of that.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "topology/neighbour_joining.hpp"

namespace hocket::topology {
namespace {

using Number = std::uint32_t;
constexpr Number none = static_cast<Number>(-1);

/// Gaps below this are no level, however exact the latencies are.
constexpr double least_gap = 0.05;
/// Gaps are this many times as wide as the noise.
constexpr double gap_to_noise = 4;
/// No network has more; of chance, the widest gaps remain.
constexpr std::size_t most_levels = 8;
/// Few latencies say little of their noise; it is then taken for 10 %.
constexpr std::size_t assumed = 10;
constexpr double assumed_noise = 0.1;
/// Of a normal distribution: the median of what is off, of the standard deviation.
constexpr double median_of_deviation = 0.6745;

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The tree with a root.
struct Rooted {
  struct Vertex {
    Number left = none, right = none;  ///< none: a host
    Number first = 0, last = 0;        ///< its hosts: from first up to before last in `hosts`
    double height = 0;                 ///< the logarithm
  };
  std::vector<Vertex> vertices;  ///< those below come before; the root is the last
  std::vector<Number> hosts;
};

/// Where the middle of the longest way is.
class Middle {
 public:
  explicit Middle(const JoinedTree& tree) : tree_(tree) {
    const Number one_end = farthest_from(0);
    Number at = farthest_from(one_end);
    const double half = distance_[at] / 2;
    while (before_[at] != one_end && distance_[before_[at]] >= half) at = before_[at];
    a = at;
    b = before_[at];
  }
  Number a, b;  ///< the ends of its edge

 private:
  Number farthest_from(Number start) {
    before_.assign(tree_.edges.size(), none);
    distance_.assign(tree_.edges.size(), 0);
    std::vector<Number> stack = {start};
    Number farthest = start;
    while (!stack.empty()) {
      const Number at = stack.back();
      stack.pop_back();
      if (distance_[at] > distance_[farthest] || farthest == start) farthest = at;
      for (const auto& edge : tree_.edges[at])
        if (edge.to != before_[at]) {
          before_[edge.to] = at;
          distance_[edge.to] = distance_[at] + edge.length;
          stack.push_back(edge.to);
        }
    }
    return farthest;
  }

  const JoinedTree& tree_;
  std::vector<Number> before_;
  std::vector<double> distance_;
};

class Rooter {
 public:
  explicit Rooter(const JoinedTree& tree) : tree_(tree) {}

  Rooted root() {
    const Middle middle(tree_);
    const Number left = side(middle.a, middle.b), right = side(middle.b, middle.a);
    push_over(left, right);
    return std::move(rooted_);
  }

 private:
  struct Step {
    Number at, from;
    bool is_done;  ///< with what is below
  };

  void push_over(Number left, Number right) {
    const auto& v = rooted_.vertices;
    rooted_.vertices.push_back({left, right, v[left].first, v[right].last, 0});
  }

  /// What is beyond an edge; without recursion, since neighbours may be joined into one long chain.
  Number side(Number start, Number from) {
    std::vector<Step> stack = {{start, from, false}};
    std::vector<Number> finished;
    while (!stack.empty()) {
      const Step step = stack.back();
      stack.pop_back();
      if (step.is_done) {
        const Number right = finished.back();
        finished.pop_back();
        push_over(finished.back(), right);
        finished.pop_back();
      } else if (tree_.edges[step.at].size() == 1) {
        const auto place = static_cast<Number>(rooted_.hosts.size());
        rooted_.hosts.push_back(step.at);
        rooted_.vertices.push_back({none, none, place, place + 1, 0});
      } else {
        stack.push_back({step.at, step.from, true});
        for (const auto& edge : tree_.edges[step.at])
          if (edge.to != step.from) stack.push_back({edge.to, step.at, false});
        continue;
      }
      finished.push_back(static_cast<Number>(rooted_.vertices.size() - 1));
    }
    return finished.back();
  }

  const JoinedTree& tree_;
  Rooted rooted_;
};

/// The height of each vertex, and what the latencies say of their noise.
class Heights {
 public:
  Heights(const LatencyMatrix& matrix, Rooted& rooted) : matrix_(matrix), rooted_(rooted) {
    off_.assign(assumed, median_of_deviation * assumed_noise);
    for (Rooted::Vertex& vertex : rooted.vertices)
      if (vertex.left != none) measure(vertex);
  }

  double noise() { return median(off_) / median_of_deviation; }

 private:
  void measure(Rooted::Vertex& vertex) {
    const Number middle = rooted_.vertices[vertex.left].last;
    across_.clear();
    for (Number a = vertex.first; a < middle; ++a)
      for (Number b = middle; b < vertex.last; ++b)
        across_.push_back(std::log(matrix_.at(rooted_.hosts[a], rooted_.hosts[b])));
    vertex.height = median(across_);
    if (across_.size() > 1)  // a single one is its own median
      for (const double value : across_) off_.push_back(std::abs(value - vertex.height));
  }

  const LatencyMatrix& matrix_;
  const Rooted& rooted_;
  std::vector<double> across_, off_;
};

/// The heights where levels end, upward.
std::vector<double> ends_of_levels(const Rooted& rooted, double noise) {
  std::vector<double> heights;
  for (const Rooted::Vertex& vertex : rooted.vertices)
    if (vertex.left != none) heights.push_back(vertex.height);
  std::sort(heights.begin(), heights.end());
  std::vector<std::pair<double, double>> gaps;  // width and middle
  for (std::size_t i = 1; i < heights.size(); ++i)
    gaps.emplace_back(heights[i] - heights[i - 1], (heights[i] + heights[i - 1]) / 2);
  std::sort(gaps.begin(), gaps.end(), std::greater<>());
  gaps.resize(std::min(gaps.size(), most_levels - 1));
  std::vector<double> ends;
  for (const auto& [width, middle] : gaps)
    if (width > std::max(least_gap, gap_to_noise * noise)) ends.push_back(middle);
  std::sort(ends.begin(), ends.end());
  return ends;
}

class Maker {
 public:
  Maker(const LatencyMatrix& matrix, const Rooted& rooted, std::vector<double> ends)
      : matrix_(matrix), rooted_(rooted), ends_(std::move(ends)) {}

  Tree make() {
    Tree tree(Kind::network, "network");
    add_contents(tree, Tree::root, "group", static_cast<Number>(rooted_.vertices.size() - 1));
    return tree;
  }

 private:
  std::size_t level_of(Number vertex) const {
    const double height = rooted_.vertices[vertex].height;
    return static_cast<std::size_t>(std::lower_bound(ends_.begin(), ends_.end(), height) - ends_.begin());
  }

  /// What is directly below once vertices of the same level are one, in the order of hosts.
  std::vector<Number> parts_of(Number vertex) const {
    std::vector<Number> parts, stack = {vertex};
    while (!stack.empty()) {
      const auto& [left, right, first, last, height] = rooted_.vertices[stack.back()];
      const Number at = stack.back();
      stack.pop_back();
      if (left == none || level_of(at) < level_of(vertex))
        parts.push_back(at);
      else
        stack.insert(stack.end(), {left, right});
    }
    std::sort(parts.begin(), parts.end(), [this](Number a, Number b) { return first_of(a) < first_of(b); });
    return parts;
  }

  Number first_of(Number vertex) const {
    const auto& v = rooted_.vertices[vertex];
    return *std::min_element(rooted_.hosts.begin() + v.first, rooted_.hosts.begin() + v.last);
  }

  void add_contents(Tree& tree, Tree::Id own, const std::string& name, Number vertex) {
    std::size_t groups = 0;
    for (const Number part : parts_of(vertex)) {
      const Rooted::Vertex& v = rooted_.vertices[part];
      if (v.left == none) {
        tree.add(own, Kind::node, matrix_.hosts[rooted_.hosts[v.first]]);
        continue;
      }
      const std::string inner = name + std::to_string(groups++);
      add_contents(tree, tree.add(own, Kind::network, inner), inner + ".", part);
    }
  }

  const LatencyMatrix& matrix_;
  const Rooted& rooted_;
  const std::vector<double> ends_;
};

}  // namespace

Tree tree_of(const LatencyMatrix& matrix) {
  if (matrix.hosts.size() == 1) {
    Tree tree(Kind::network, "network");
    tree.add(Tree::root, Kind::node, matrix.hosts.front());
    return tree;
  }
  Rooted rooted = Rooter(join_neighbours(matrix)).root();
  const double noise = Heights(matrix, rooted).noise();
  return Maker(matrix, rooted, ends_of_levels(rooted, noise)).make();
}

}  // namespace hocket::topology
