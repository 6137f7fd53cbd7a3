#include "fft3d/rank_grid.hpp"

#include "shared/program.hpp"

namespace fft3d {

RankGrid::RankGrid(MPI_Comm world, Kind kind) : world_(world) {
  int shape[2] = {0, kind == Kind::slab ? 1 : 0};
  MPI_Dims_create(apps::ranks_of(world), 2, shape);
  width_ = shape[1];
  const int rank = apps::rank_of(world);
  MPI_Comm_split(world, rank % width_, rank, &directions_.xy);
  MPI_Comm_split(world, rank / width_, rank, &directions_.yz);
}

RankGrid::~RankGrid() {
  MPI_Comm_free(&directions_.xy);
  MPI_Comm_free(&directions_.yz);
}

RankGrid::Part RankGrid::before(const Extents& n, int rank) const {
  const int length = apps::ranks_of(world_) / width_;
  return {
      apps::block_of(n[0], length, rank / width_), apps::block_of(n[1], width_, rank % width_), {0, n[2]}};
}

RankGrid::Part RankGrid::after(const Extents& n, int rank) const {
  const int length = apps::ranks_of(world_) / width_;
  return {
      {0, n[0]}, apps::block_of(n[1], length, rank / width_), apps::block_of(n[2], width_, rank % width_)};
}

}  // namespace fft3d
