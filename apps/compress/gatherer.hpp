// The data-parallel loop: every rank compresses its blocks, rank 0 gathers the frames. How long they are is
// known only after they are there, so that a tile goes through three steps: compress, and gather the lengths;
// gather the frames; done.
#pragma once

#include <mpi.h>

#include "compress/archive.hpp"
#include "compress/frames.hpp"
#include "compress/partition.hpp"
#include "overlap/pipeline.hpp"
#include "shared/forms.hpp"

namespace compress {

struct Method {
  apps::Form form;
  int level;
  overlap::Overlap overlap;
};

class Gatherer {
 public:
  // `input`: this rank's parts of all tiles, one after the other.
  Gatherer(MPI_Comm comm, const Partition& partition, const Method& method, const Bytes& input);

  void run(apps::Stopwatch& communication);
  const Archive& archive() const { return archive_; }  // on rank 0

 private:
  struct Tile {  // what is under way
    Bytes frames;
    int size = 0;
    std::vector<int> sizes, offsets;  // of all ranks, on rank 0
  };

  Tile& tile(int index) { return tiles_[index % tiles_.size()]; }
  void compress_block(int index, int block);
  void gather_sizes(Tile& tile, MPI_Request* request) const;
  void gather_frames(Tile& tile, MPI_Request* request);

  MPI_Comm comm_;
  int rank_;
  Partition partition_;
  Method method_;
  const Bytes& input_;
  FrameWriter writer_;
  Archive archive_;
  std::vector<Tile> tiles_;
};

}  // namespace compress
