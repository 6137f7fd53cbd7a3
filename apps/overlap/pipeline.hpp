// Turns   for (i = 0; i < n; ++i) compute(i);  communicate();   into a pipeline: the loop is cut into tiles,
// and what a tile has computed is communicated while the next ones are computed (Hoefler, Gottschling and
// Lumsdaine: Leveraging non-blocking collective communication in high-performance applications, SPAA 2008).
//
// A tile goes through two or more steps. Each step computes and may start a communication; the next step of
// the tile begins when that has ended, `window` tiles later:
//
//   Pipeline pipeline(tiles, {.window = 2, .tests = 4}, stopwatch);
//   pipeline.run(
//       [&](int tile) {
//         pipeline.compute(pieces, [&](int piece) { compute(tile, piece); });
//         return pipeline.start([&](MPI_Request* request) { MPI_Ialltoall(..., request); });
//       },
//       [&](int tile) { use(tile); });
//
// All ranks must give the same tiles and window: then all start the same collectives in the same order.
// A step may run a pipeline of its own, which says so: its tests are the other's, too.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <tuple>
#include <utility>

#include "overlap/outstanding.hpp"

namespace overlap {

struct Overlap {
  int window = 1;  // how many tiles communicate while one is computed; 0: none, each is waited for at once
  int tests = 0;   // calls of MPI_Test while one step of a tile computes
};

// Tiles that exist at the same time, and so the buffers that steps have to have.
constexpr int tiles_alive(const Overlap& how, int steps) {
  return (steps - 1) * how.window + 1;
}

class Pipeline {
 public:
  Pipeline(int tiles, const Overlap& how, apps::Stopwatch& communication, Pipeline* around = nullptr)
      : tiles_(tiles),
        how_(how),
        communication_(communication),
        around_(around),
        outstanding_(0, communication) {}

  // Every step takes the tile's number; all but the last return what start() gave them.
  template <class... Steps>
  void run(Steps&&... steps) {
    constexpr int count = sizeof...(Steps);
    outstanding_.set_slots(count * slots_per_step());
    auto all = std::forward_as_tuple(std::forward<Steps>(steps)...);
    const int turns = tiles_ + (count - 1) * how_.window;
    for (int turn = 0; turn < turns; ++turn) take_turn<0>(all, turn);
  }

  // The pieces of a step's computation, with tests between them.
  template <class Piece>
  void compute(int pieces, Piece&& piece) {
    for (int i = 0; i < pieces; ++i) {
      piece(i);
      if (test_is_due(i, pieces, how_.tests)) test();
    }
  }

  // What starts a communication, to be returned by a step. A blocking call may stand there as well.
  template <class Begin>
  MPI_Request start(Begin&& begin) {
    MPI_Request request = MPI_REQUEST_NULL;
    communication_([&] { begin(&request); });
    return request;
  }

 private:
  void test() {
    outstanding_.test();
    if (around_) around_->test();
  }

  int slots_per_step() const { return how_.window + 1; }
  int slot(int step, int tile) const { return step * slots_per_step() + tile % slots_per_step(); }

  // One step of as many tiles as there are steps: the newest tile's first, so that it is computed before an
  // older one is waited for.
  template <std::size_t step, class Steps>
  void take_turn(Steps& steps, int turn) {
    constexpr bool is_last = step + 1 == std::tuple_size_v<Steps>;
    const int tile = turn - static_cast<int>(step) * how_.window;
    if (tile >= 0 && tile < tiles_) {
      if constexpr (step > 0) outstanding_.wait(slot(step - 1, tile));
      if constexpr (is_last)
        std::get<step>(steps)(tile);
      else
        outstanding_.hold(slot(step, tile), std::get<step>(steps)(tile));
    }
    if constexpr (!is_last) take_turn<step + 1>(steps, turn);
  }

  int tiles_;
  Overlap how_;
  apps::Stopwatch& communication_;
  Pipeline* around_;
  Outstanding outstanding_;
};

}  // namespace overlap
