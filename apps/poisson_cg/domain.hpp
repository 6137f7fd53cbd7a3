// Who owns which points: the ranks as a grid of their own, each with a block of the n^3 points.
#pragma once

#include <mpi.h>

#include <array>

#include "poisson_cg/grid.hpp"

namespace poisson {

class Domain {
 public:
  // Throws apps::UsageError, on all ranks, where there are more ranks than points in a direction.
  Domain(MPI_Comm world, int points);
  ~Domain();
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  MPI_Comm comm() const { return comm_; }  // with the topology that neighbour collectives want
  int points() const { return points_; }   // of the whole grid, in every direction
  const Shape& shape() const { return shape_; }
  const Triple& first() const { return first_; }  // where this rank's block begins

  // The rank behind a side (0: lower, 1: upper), MPI_PROC_NULL at the boundary of the cube.
  int neighbor(int direction, int side) const { return neighbors_[2 * direction + side]; }

  // Points that need no neighbour's value, and the rest in boxes of which some may be empty.
  Box inner() const;
  std::array<Box, 6> shell() const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int points_;
  Triple first_{};
  Shape shape_{Triple{}};
  std::array<int, 6> neighbors_{};
};

}  // namespace poisson
