#include "fft3d/transposition.hpp"

#include <algorithm>

#include "shared/program.hpp"

namespace fft3d {
namespace {

std::vector<apps::Block> blocks(int n, int ranks) {
  std::vector<apps::Block> found;
  for (int rank = 0; rank < ranks; ++rank) found.push_back(apps::block_of(n, ranks, rank));
  return found;
}

}  // namespace

Transposition::Transposition(MPI_Comm comm, int rows, int columns, std::size_t column_stride)
    : comm_(comm), column_stride_(column_stride), all_columns_(columns) {
  const int ranks = apps::ranks_of(comm), rank = apps::rank_of(comm);
  rows_ = blocks(rows, ranks);
  columns_ = blocks(columns, ranks);
  own_rows_ = rows_[rank].count;
  own_columns_ = columns_[rank].count;
  equal_ = rows % ranks == 0 && columns % ranks == 0;
}

void Transposition::reserve(int tiles, int planes) {
  Tile tile;
  tile.sent.resize(static_cast<std::size_t>(planes) * own_rows_ * all_columns_);
  tile.received.resize(static_cast<std::size_t>(planes) * own_columns_ *
                       (rows_.back().begin + rows_.back().count));
  for (auto* counts : {&tile.sent_counts, &tile.sent_offsets, &tile.received_counts, &tile.received_offsets})
    counts->resize(rows_.size());
  tiles_.assign(tiles, tile);
}

// In the buffer: for each receiver its columns of all planes of the tile.
void Transposition::pack(int tile, int planes, int index, const Complex* plane) {
  Complex* sent = buffer(tile).sent.data();
  for (const apps::Block& columns : columns_) {
    Complex* out =
        sent + (static_cast<std::size_t>(planes) * columns.begin + index * columns.count) * own_rows_;
    for (int row = 0; row < own_rows_; ++row)
      out = std::copy_n(plane + static_cast<std::size_t>(row) * all_columns_ + columns.begin, columns.count,
                        out);
  }
}

void Transposition::unpack(int tile, int planes, int index, Complex* plane) const {
  const Complex* received = buffer(tile).received.data();
  for (const apps::Block& rows : rows_) {
    const Complex* in =
        received + (static_cast<std::size_t>(planes) * rows.begin + index * rows.count) * own_columns_;
    for (int column = 0; column < own_columns_; ++column)
      for (int row = 0; row < rows.count; ++row)
        plane[column * column_stride_ + rows.begin + row] = in[row * own_columns_ + column];
  }
}

void Transposition::exchange_equal(Tile& tile, int planes, apps::Form form, MPI_Request* request) const {
  const int count = planes * own_rows_ * own_columns_;
  const MPI_Datatype type = MPI_C_DOUBLE_COMPLEX;
  if (form == apps::Form::blocking)
    MPI_Alltoall(tile.sent.data(), count, type, tile.received.data(), count, type, comm_);
  else
    MPI_Ialltoall(tile.sent.data(), count, type, tile.received.data(), count, type, comm_, request);
}

void Transposition::exchange_any(Tile& tile, int planes, apps::Form form, MPI_Request* request) const {
  for (std::size_t peer = 0; peer < rows_.size(); ++peer) {
    tile.sent_counts[peer] = planes * own_rows_ * columns_[peer].count;
    tile.sent_offsets[peer] = planes * own_rows_ * columns_[peer].begin;
    tile.received_counts[peer] = planes * own_columns_ * rows_[peer].count;
    tile.received_offsets[peer] = planes * own_columns_ * rows_[peer].begin;
  }
  const MPI_Datatype type = MPI_C_DOUBLE_COMPLEX;
  if (form == apps::Form::blocking)
    MPI_Alltoallv(tile.sent.data(), tile.sent_counts.data(), tile.sent_offsets.data(), type,
                  tile.received.data(), tile.received_counts.data(), tile.received_offsets.data(), type,
                  comm_);
  else
    MPI_Ialltoallv(tile.sent.data(), tile.sent_counts.data(), tile.sent_offsets.data(), type,
                   tile.received.data(), tile.received_counts.data(), tile.received_offsets.data(), type,
                   comm_, request);
}

void Transposition::exchange(int tile, int planes, apps::Form form, MPI_Request* request) {
  Tile& its = buffer(tile);
  if (rows_.size() == 1)
    its.sent.swap(its.received);  // nobody to exchange with
  else if (equal_)
    exchange_equal(its, planes, form, request);
  else
    exchange_any(its, planes, form, request);
}

}  // namespace fft3d
