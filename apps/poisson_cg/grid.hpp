// One rank's part of the grid with one ghost layer around it, and boxes of its points.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace poisson {

using Triple = std::array<int, 3>;

// Points with low <= index < high in every direction; ghosts have the indices -1 and n.
struct Box {
  Triple low{}, high{};
};

inline std::size_t points_of(const Box& box) {
  std::size_t points = 1;
  for (int d = 0; d < 3; ++d) points *= box.high[d] > box.low[d] ? box.high[d] - box.low[d] : 0;
  return points;
}

class Shape {
 public:
  explicit Shape(const Triple& points) : points_(points) {}

  Box interior() const { return {{0, 0, 0}, points_}; }
  std::size_t stride(int direction) const {
    const std::size_t z = points_[2] + 2, y = points_[1] + 2;
    return direction == 0 ? y * z : direction == 1 ? z : 1;
  }
  std::size_t size() const { return (points_[0] + 2) * stride(0); }
  std::size_t at(int x, int y, int z) const { return (x + 1) * stride(0) + (y + 1) * stride(1) + (z + 1); }

 private:
  Triple points_;
};

using Field = std::vector<double>;  // of Shape::size() values

// Calls visit(index of the first point, number of points) for each row of the box in plane x.
template <class Visit>
void each_row(const Shape& shape, const Box& box, int x, Visit&& visit) {
  const int length = box.high[2] - box.low[2];
  for (int y = box.low[1]; y < box.high[1] && length > 0; ++y) visit(shape.at(x, y, box.low[2]), length);
}

template <class Visit>
void each_row(const Shape& shape, const Box& box, Visit&& visit) {
  for (int x = box.low[0]; x < box.high[0]; ++x) each_row(shape, box, x, visit);
}

}  // namespace poisson
