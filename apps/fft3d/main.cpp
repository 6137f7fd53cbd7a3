// A three-dimensional Fourier transform over distributed ranks: see --help.
#include <climits>

#include "fft3d/verification.hpp"
#include "shared/report.hpp"

namespace {

using namespace fft3d;

struct Choices {
  Extents n{64, 64, 64};
  apps::Words decompositions{"slab"};
  int fields = 1, tile = 0, window = 2, serial_points = 1 << 18;
  apps::Forms forms;
};

void add_options(apps::CommandLine& line, Choices& choices) {
  const char* names[3] = {"--nx", "--ny", "--nz"};
  for (int d = 0; d < 3; ++d) line.number(names[d], choices.n[d], 1, 1 << 15, "extent of the array");
  line.number("--fields", choices.fields, 1, 1 << 10, "arrays that are transformed one after the other");
  line.words("--decomposition", choices.decompositions, {"slab", "pencil"},
             "how the array is dealt out to the ranks");
  line.number("--tile", choices.tile, 0, 1 << 15,
              "planes exchanged at once; 0: all of them in the blocking form, an eighth in the other");
  line.number("--window", choices.window, 0, 64,
              "tiles under way while one is computed, in the non-blocking form");
  line.number("--serial", choices.serial_points, 0, 1 << 28,
              "up to so many values the result is compared with that of one rank");
  choices.forms.add_to(line);
}

Method method_of(const Choices& choices, apps::Form form) {
  const bool overlaps = form == apps::Form::nonblocking;
  return {form, choices.tile, {overlaps ? choices.window : 0, overlaps ? choices.forms.tests() : 0}};
}

void check_size(const Extents& n, const RankGrid& grid) {
  if (product(grid.before(n, 0)) > INT_MAX ||
      product(grid.after(n, 0)) > INT_MAX)  // rank 0 has the largest parts
    throw apps::UsageError("that is more than MPI exchanges at once: take more ranks");
}

bool run(const Choices& choices, const std::string& decomposition, apps::Form form) {
  const RankGrid grid(MPI_COMM_WORLD,
                      decomposition == "slab" ? RankGrid::Kind::slab : RankGrid::Kind::pencil);
  check_size(choices.n, grid);
  const int rank = apps::rank_of(MPI_COMM_WORLD), ranks = apps::ranks_of(MPI_COMM_WORLD);
  const Method method = method_of(choices, form);
  std::vector<Array> in, out;
  for (int field = 0; field < choices.fields; ++field) {
    in.push_back(noise(choices.n, field, grid.before(choices.n, rank)));
    out.emplace_back(product(grid.after(choices.n, rank)));
  }
  Transform transform(choices.n, grid.directions(), method);
  const apps::Timing timing = apps::timed(
      MPI_COMM_WORLD, [&](apps::Stopwatch& communication) { transform.run(in, out, communication); });
  const bool serial = product(choices.n) <= static_cast<std::size_t>(choices.serial_points);
  const Verdict verdict = judge(choices.n, grid, method, out, serial);
  if (rank == 0) {
    apps::Report report("fft3d", form, ranks, timing);
    report.choice("decomposition", decomposition)
        .number("nx", choices.n[0])
        .number("ny", choices.n[1])
        .number("nz", choices.n[2])
        .number("fields", choices.fields)
        .number("tile", choices.tile)
        .number("window", method.overlap.window)
        .number("tests", method.overlap.tests)
        .result("round_trip", verdict.round_trip)
        .result("wave", verdict.wave);
    if (verdict.serial) report.result("serial", *verdict.serial);
    report.print(verdict.right);
  }
  return verdict.right;
}

bool run_all(const Choices& choices) {
  bool right = true;
  for (int i = 0; i < choices.forms.repeat(); ++i)
    for (const std::string& decomposition : choices.decompositions)
      for (const apps::Form form : choices.forms.chosen()) right = run(choices, decomposition, form) && right;
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  apps::CommandLine line("fft3d", "a three-dimensional Fourier transform over distributed ranks");
  Choices choices;
  add_options(line, choices);
  return apps::run_program(argc, argv, line, [&] { return run_all(choices); });
}
