#include "fft3d/transform.hpp"

#include <algorithm>

#include "fft3d/rank_grid.hpp"
#include "shared/program.hpp"

namespace fft3d {
namespace {

constexpr int steps = 2;  // of a tile: up to the exchange, and after it

int own(int n, MPI_Comm comm) {
  return apps::block_of(n, apps::ranks_of(comm), apps::rank_of(comm)).count;
}

std::size_t plane_of(int rows, int columns) {
  return static_cast<std::size_t>(rows) * columns;
}

}  // namespace

Transform::Transform(const Extents& n, const Directions& ranks, const Method& method)
    : method_(method),
      own_x_(own(n[0], ranks.xy)),
      own_y_(own(n[1], ranks.yz)),
      own_z_(own(n[2], ranks.yz)),
      later_y_(own(n[1], ranks.xy)),
      all_y_(n[1]),
      x_plane_(plane_of(own_y_, n[2])),
      z_plane_(plane_of(own_x_, n[1])),
      z_plane_out_(plane_of(later_y_, n[0])),
      along_z_(n[2], own_y_),
      along_y_(n[1], own_x_),
      along_x_(n[0], later_y_),
      y_for_z_(ranks.yz, n[1], n[2], z_plane_),
      x_for_y_(ranks.xy, n[0], n[1], n[0]),
      between_(z_plane_ * own_z_) {
  const int tiles = overlap::tiles_alive(method.overlap, steps);
  y_for_z_.reserve(tiles, tile_of(own_x_));
  x_for_y_.reserve(tiles, tile_of(own_z_));
}

int Transform::tile_of(int planes) const {
  constexpr int tiles = 8;
  const int preset = method_.form == apps::Form::blocking ? planes : (planes + tiles - 1) / tiles;
  return std::clamp(method_.tile ? method_.tile : preset, 1, std::max(planes, 1));
}

// before(plane): computes it and returns where it is; after(plane, unpack): unpacks it with unpack(address),
// and computes.
template <class Before, class After>
void Transform::exchange(Transposition& transposition, int planes, apps::Stopwatch& communication,
                         Before&& before, After&& after) {
  const int tile_planes = tile_of(planes), tiles = (planes + tile_planes - 1) / tile_planes;
  const auto count = [&](int tile) { return std::min(tile_planes, planes - tile * tile_planes); };
  overlap::Pipeline pipeline(tiles, method_.overlap, communication);
  pipeline.run(
      [&](int tile) {
        pipeline.compute(count(tile), [&](int i) {
          transposition.pack(tile, count(tile), i, before(tile * tile_planes + i));
        });
        return pipeline.start(
            [&](MPI_Request* request) { transposition.exchange(tile, count(tile), method_.form, request); });
      },
      [&](int tile) {
        pipeline.compute(count(tile), [&](int i) {
          const auto unpack = [&](Complex* plane) { transposition.unpack(tile, count(tile), i, plane); };
          after(tile * tile_planes + i, unpack);
        });
      });
}

void Transform::exchange_y_for_z(Array& in, apps::Stopwatch& communication) {
  const auto transform = [&](int x) {
    Complex* plane = in.data() + x * x_plane_;
    along_z_.transform(plane);
    return plane;
  };
  exchange(y_for_z_, own_x_, communication, transform,
           [&](int x, auto&& unpack) { unpack(between_.data() + static_cast<std::size_t>(x) * all_y_); });
}

void Transform::exchange_x_for_y(Array& out, apps::Stopwatch& communication) {
  const auto transform = [&](int z) {
    Complex* plane = between_.data() + z * z_plane_;
    along_y_.transform(plane);
    return plane;
  };
  exchange(x_for_y_, own_z_, communication, transform, [&](int z, auto&& unpack) {
    Complex* plane = out.data() + z * z_plane_out_;
    unpack(plane);
    along_x_.transform(plane);
  });
}

void Transform::run(Array& in, Array& out, apps::Stopwatch& communication) {
  exchange_y_for_z(in, communication);
  exchange_x_for_y(out, communication);
}

void run_inverse(const Extents& n, const Directions& ranks, const Method& method, Array& in, Array& out) {
  apps::Stopwatch nobody_asks;
  for (Complex& value : in) value = std::conj(value);
  Transform({n[2], n[1], n[0]}, ranks.reversed(), method).run(in, out, nobody_asks);
  const double scale = 1.0 / static_cast<double>(product(n));
  for (Complex& value : out) value = scale * std::conj(value);
}

}  // namespace fft3d
