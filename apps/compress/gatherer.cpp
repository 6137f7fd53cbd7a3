#include "compress/gatherer.hpp"

#include <algorithm>

#include "shared/program.hpp"

namespace compress {
namespace {

constexpr int steps = 3;
constexpr int root = 0;

std::size_t most_frames(const Partition& partition, std::uint64_t blocks) {
  return blocks * FrameWriter::most_bytes(partition.block);
}

std::size_t most_archive(const Partition& partition, int rank) {
  return rank == root ? most_frames(partition, (partition.bytes + partition.block - 1) / partition.block) : 0;
}

}  // namespace

Gatherer::Gatherer(MPI_Comm comm, const Partition& partition, const Method& method, const Bytes& input)
    : comm_(comm),
      rank_(apps::rank_of(comm)),
      partition_(partition),
      method_(method),
      input_(input),
      writer_(method.level),
      archive_(most_archive(partition, rank_)) {
  Tile tile;
  tile.frames.resize(most_frames(partition, partition.tile));
  tile.sizes.resize(rank_ == root ? partition.ranks : 0);
  tiles_.assign(std::min(overlap::tiles_alive(method.overlap, steps), partition.tiles()), tile);
}

void Gatherer::compress_block(int index, int block) {
  Tile& its = tile(index);
  const std::uint64_t begin = block * partition_.block, length = partition_.part(index, rank_).size();
  if (begin >= length) return;  // the input ends here
  const char* text = input_.data() + index * partition_.tile_bytes() + begin;
  its.size += static_cast<int>(
      writer_.write({text, std::min(partition_.block, length - begin)}, its.frames.data() + its.size));
}

void Gatherer::gather_sizes(Tile& tile, MPI_Request* request) const {
  if (method_.form == apps::Form::blocking)
    MPI_Gather(&tile.size, 1, MPI_INT, tile.sizes.data(), 1, MPI_INT, root, comm_);
  else
    MPI_Igather(&tile.size, 1, MPI_INT, tile.sizes.data(), 1, MPI_INT, root, comm_, request);
}

void Gatherer::gather_frames(Tile& tile, MPI_Request* request) {
  char* const to = rank_ == root ? archive_.append(tile.sizes, tile.offsets) : nullptr;
  if (method_.form == apps::Form::blocking)
    MPI_Gatherv(tile.frames.data(), tile.size, MPI_BYTE, to, tile.sizes.data(), tile.offsets.data(), MPI_BYTE,
                root, comm_);
  else
    MPI_Igatherv(tile.frames.data(), tile.size, MPI_BYTE, to, tile.sizes.data(), tile.offsets.data(),
                 MPI_BYTE, root, comm_, request);
}

void Gatherer::run(apps::Stopwatch& communication) {
  overlap::Pipeline pipeline(partition_.tiles(), method_.overlap, communication);
  pipeline.run(
      [&](int index) {
        tile(index).size = 0;
        pipeline.compute(static_cast<int>(partition_.tile), [&](int block) { compress_block(index, block); });
        return pipeline.start([&](MPI_Request* request) { gather_sizes(tile(index), request); });
      },
      [&](int index) {
        return pipeline.start([&](MPI_Request* request) { gather_frames(tile(index), request); });
      },
      [](int) {});
}

}  // namespace compress
