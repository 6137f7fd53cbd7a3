// Who exchanges what with whom. Slabs: x is dealt out to all ranks. Pencils: the ranks form a grid, x is
// dealt out along one of its directions and y along the other. Slabs are pencils whose grid is one rank wide.
#pragma once

#include <mpi.h>

#include "fft3d/array.hpp"
#include "shared/blocks.hpp"

namespace fft3d {

// The two directions of the grid of ranks.
struct Directions {
  MPI_Comm xy = MPI_COMM_NULL;  // exchange x for y
  MPI_Comm yz = MPI_COMM_NULL;  // exchange y for z

  Directions reversed() const { return {yz, xy}; }
};

class RankGrid {
 public:
  enum class Kind { slab, pencil };

  RankGrid(MPI_Comm world, Kind kind);
  ~RankGrid();
  RankGrid(const RankGrid&) = delete;
  RankGrid& operator=(const RankGrid&) = delete;

  MPI_Comm world() const { return world_; }
  const Directions& directions() const { return directions_; }

  // What a rank has before the transform, an array [x][y][z], and after it, an array [z][y][x].
  struct Part {
    apps::Block x, y, z;
  };
  Part before(const Extents& n, int rank) const;
  Part after(const Extents& n, int rank) const;

 private:
  MPI_Comm world_;
  int width_ = 1;  // ranks in direction yz
  Directions directions_;
};

inline std::size_t product(const RankGrid::Part& part) {
  return product(Extents{part.x.count, part.y.count, part.z.count});
}

}  // namespace fft3d
