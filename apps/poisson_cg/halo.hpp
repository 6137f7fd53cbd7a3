// The neighbours' values at the sides of a block, by one collective: a neighbour collective on the grid of
// ranks, or MPI_Alltoallv with empty blocks for all that are no neighbours, as LibNBC's solver did (Hoefler,
// Gottschling, Rehm and Lumsdaine: Optimizing a conjugate gradient solver with non-blocking collective
// operations, EuroPVM/MPI 2006).
#pragma once

#include <mpi.h>

#include <vector>

#include "poisson_cg/domain.hpp"

namespace poisson {

class Halo {
 public:
  enum class By { neighbor, alltoallv };

  Halo(const Domain& domain, By by);

  void pack(const Field& field);
  void unpack(Field& field) const;
  void exchange();      // what is packed, blocking
  MPI_Request start();  // the same, not waiting

 private:
  struct Blocks {  // of all sides in one buffer, described as the collective wants it: per side or per rank
    std::vector<double> values;
    std::vector<int> counts, offsets;
  };
  struct Side {
    Box own, ghost;
    std::size_t offset;
  };

  void add_side(int direction, int side);

  const Domain& domain_;
  By by_;
  std::vector<Side> sides_;  // those with a neighbour
  Blocks sent_, received_;
};

}  // namespace poisson
