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

// Of all fields, one field's after the other's. A field without planes has an empty tile: others may wait.
class Transform::Tiles {
 public:
  Tiles(int fields, int planes, int most)
      : planes_(planes), most_(most), of_field_(std::max((planes + most - 1) / most, 1)), fields_(fields) {}

  int count() const { return fields_ * of_field_; }
  int field(int tile) const { return tile / of_field_; }
  int first(int tile) const { return tile % of_field_ * most_; }  // of its field's planes
  int planes(int tile) const { return std::min(most_, planes_ - first(tile)); }

 private:
  int planes_, most_, of_field_, fields_;
};

// before(tile) returns a function that computes a plane of the tile and returns where it is; after(tile), one
// that unpacks a plane with unpack(address), and computes.
template <class Before, class After>
void Transform::exchange(Transposition& transposition, const Tiles& tiles, overlap::Pipeline& pipeline,
                         Before&& before, After&& after) {
  pipeline.run(
      [&](int tile) {
        const auto computed = before(tile);
        pipeline.compute(tiles.planes(tile), [&](int i) {
          transposition.pack(tile, tiles.planes(tile), i, computed(tiles.first(tile) + i));
        });
        return pipeline.start([&](MPI_Request* request) {
          transposition.exchange(tile, tiles.planes(tile), method_.form, request);
        });
      },
      [&](int tile) {
        const auto finish = after(tile);
        pipeline.compute(tiles.planes(tile), [&](int i) {
          finish(tiles.first(tile) + i,
                 [&](Complex* plane) { transposition.unpack(tile, tiles.planes(tile), i, plane); });
        });
      });
}

void Transform::exchange_y_for_z(Array& in, apps::Stopwatch& communication, overlap::Pipeline& around) {
  const auto before = [&](int x) {
    Complex* plane = in.data() + x * x_plane_;
    along_z_.transform(plane);
    return plane;
  };
  const auto after = [&](int x, auto&& unpack) {
    unpack(between_.data() + static_cast<std::size_t>(x) * all_y_);
  };
  const Tiles tiles(1, own_x_, tile_of(own_x_));
  overlap::Pipeline pipeline(tiles.count(), method_.overlap, communication, &around);
  exchange(y_for_z_, tiles, pipeline, [&](int) { return before; }, [&](int) { return after; });
}

// A field's first exchange goes before its first tile: all planes of the field before it have been packed.
void Transform::run(std::span<Array> in, std::span<Array> out, apps::Stopwatch& communication) {
  const Tiles tiles(static_cast<int>(in.size()), own_z_, tile_of(own_z_));
  overlap::Pipeline pipeline(tiles.count(), method_.overlap, communication);
  const auto before = [&](int tile) {
    if (tiles.first(tile) == 0) exchange_y_for_z(in[tiles.field(tile)], communication, pipeline);
    return [this](int z) {
      Complex* plane = between_.data() + z * z_plane_;
      along_y_.transform(plane);
      return plane;
    };
  };
  const auto after = [&](int tile) {
    return [&, field = out[tiles.field(tile)].data()](int z, auto&& unpack) {
      Complex* plane = field + z * z_plane_out_;
      unpack(plane);
      along_x_.transform(plane);
    };
  };
  exchange(x_for_y_, tiles, pipeline, before, after);
}

void run_inverse(const Extents& n, const Directions& ranks, const Method& method, Array& in, Array& out) {
  apps::Stopwatch nobody_asks;
  for (Complex& value : in) value = std::conj(value);
  Transform({n[2], n[1], n[0]}, ranks.reversed(), method).run({&in, 1}, {&out, 1}, nobody_asks);
  const double scale = 1.0 / static_cast<double>(product(n));
  for (Complex& value : out) value = scale * std::conj(value);
}

}  // namespace fft3d
