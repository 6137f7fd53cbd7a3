// Exchanges two indices of a distributed array, plane by plane. Before: [plane][row][column] with all columns
// and this rank's rows; after: all rows and this rank's columns, with rows running fastest. Planes have
// nothing to do with each other.
#pragma once

#include <mpi.h>

#include <vector>

#include "fft3d/array.hpp"
#include "shared/blocks.hpp"
#include "shared/forms.hpp"

namespace fft3d {

class Transposition {
 public:
  // `column_stride`: how far apart two columns of a plane are afterwards.
  Transposition(MPI_Comm comm, int rows, int columns, std::size_t column_stride);

  // Before the first tile: room for so many tiles of so many planes at once.
  void reserve(int tiles, int planes);

  // Plane `index` of the `planes` of a tile: from the array into the tile's buffer, and from there into the
  // other array.
  void pack(int tile, int planes, int index, const Complex* plane);
  void unpack(int tile, int planes, int index, Complex* plane) const;

  // Sends what is packed; blocking, the request stays MPI_REQUEST_NULL.
  void exchange(int tile, int planes, apps::Form form, MPI_Request* request);

 private:
  struct Tile {
    Array sent, received;
    std::vector<int> sent_counts, sent_offsets, received_counts, received_offsets;
  };

  Tile& buffer(int tile) { return tiles_[tile % tiles_.size()]; }
  const Tile& buffer(int tile) const { return tiles_[tile % tiles_.size()]; }
  void exchange_equal(Tile& tile, int planes, apps::Form form, MPI_Request* request) const;
  void exchange_any(Tile& tile, int planes, apps::Form form, MPI_Request* request) const;

  MPI_Comm comm_;
  std::size_t column_stride_;
  int own_rows_, own_columns_, all_columns_;
  std::vector<apps::Block> rows_, columns_;  // of each rank
  bool equal_;                               // all ranks have as many rows and columns as this one
  std::vector<Tile> tiles_;
};

}  // namespace fft3d
