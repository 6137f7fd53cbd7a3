// The distributed transform: an array [x][y][z] in, its Fourier transform [z][y][x] out. Along z; then y and
// z change places, x-plane by x-plane; along y; then x and y change places, z-plane by z-plane; along x. A
// plane's exchange starts as soon as its lines are transformed, and its lines in the next direction are
// transformed as soon as it is there (Hoefler, Gottschling and Lumsdaine, SPAA 2008); the tile factor is how
// many planes go together. Of several fields, as the velocities of a flow are, one is transformed along z and
// y while the last planes of the one before are exchanged.
#pragma once

#include <span>

#include "fft3d/lines.hpp"
#include "fft3d/transposition.hpp"
#include "overlap/pipeline.hpp"

namespace fft3d {

struct Directions;

struct Method {
  apps::Form form = apps::Form::blocking;
  int tile = 0;  // planes that are exchanged at once; 0: all of them where nothing overlaps, else an eighth
  overlap::Overlap overlap;
};

class Transform {
 public:
  Transform(const Extents& n, const Directions& ranks, const Method& method);

  // Of as many fields as there are in `in`, which is overwritten, and in `out`.
  void run(std::span<Array> in, std::span<Array> out, apps::Stopwatch& communication);

 private:
  class Tiles;

  int tile_of(int planes) const;
  void exchange_y_for_z(Array& in, apps::Stopwatch& communication, overlap::Pipeline& around);
  template <class Before, class After>
  void exchange(Transposition& transposition, const Tiles& tiles, overlap::Pipeline& pipeline,
                Before&& before, After&& after);

  Method method_;
  int own_x_, own_y_, own_z_, later_y_, all_y_;  // later: after the second exchange
  std::size_t x_plane_, z_plane_, z_plane_out_;  // values in a plane
  Lines along_z_, along_y_, along_x_;
  Transposition y_for_z_, x_for_y_;
  Array between_;  // [z][x][y], of one field
};

// The inverse is the transform of the conjugate, conjugated, with the indices in the opposite order:
// [z][y][x] in, [x][y][z] out.
void run_inverse(const Extents& n, const Directions& ranks, const Method& method, Array& in, Array& out);

}  // namespace fft3d
