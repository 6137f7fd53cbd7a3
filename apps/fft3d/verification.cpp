#include "fft3d/verification.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "shared/program.hpp"

namespace fft3d {
namespace {

double largest_of_all(double mine, MPI_Comm comm) {
  double largest = 0;
  MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, comm);
  return largest;
}

double largest_difference(const Array& a, const Array& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// visit(x, y, z) in the order of an array [z][y][x]
template <class Visit>
void each_after(const RankGrid::Part& part, Visit&& visit) {
  for (int z = part.z.begin; z < part.z.begin + part.z.count; ++z)
    for (int y = part.y.begin; y < part.y.begin + part.y.count; ++y)
      for (int x = part.x.begin; x < part.x.begin + part.x.count; ++x) visit(x, y, z);
}

Complex phase(int wave, int place, int n) {
  const double turns = static_cast<double>(static_cast<long long>(wave) * place % n) / n;
  return std::polar(1.0, 2 * std::numbers::pi * turns);
}

Array wave_of(const Extents& n, const Extents& wave, const RankGrid::Part& part) {
  Array values;
  values.reserve(product(part));
  for (int x = part.x.begin; x < part.x.begin + part.x.count; ++x)
    for (int y = part.y.begin; y < part.y.begin + part.y.count; ++y)
      for (int z = part.z.begin; z < part.z.begin + part.z.count; ++z)
        values.push_back(phase(wave[0], x, n[0]) * phase(wave[1], y, n[1]) * phase(wave[2], z, n[2]));
  return values;
}

double wave_error(const Extents& n, const RankGrid& grid, const Method& method) {
  const int rank = apps::rank_of(grid.world());
  const RankGrid::Part after = grid.after(n, rank);
  const Extents wave{1 % n[0], 2 % n[1], 3 % n[2]};
  Array in = wave_of(n, wave, grid.before(n, rank)), out(product(after));
  apps::Stopwatch nobody_asks;
  Transform(n, grid.directions(), method).run({&in, 1}, {&out, 1}, nobody_asks);
  Array peak;
  peak.reserve(out.size());
  each_after(after, [&](int x, int y, int z) {
    peak.emplace_back(Extents{x, y, z} == wave ? static_cast<double>(product(n)) : 0.0);
  });
  return largest_of_all(largest_difference(out, peak), grid.world()) / static_cast<double>(product(n));
}

double round_trip_error(const Extents& n, const RankGrid& grid, const Method& method, int field,
                        Array& spectrum) {
  const Array original = noise(n, field, grid.before(n, apps::rank_of(grid.world())));
  Array back(original.size());
  run_inverse(n, grid.directions(), method, spectrum, back);
  return largest_of_all(largest_difference(back, original), grid.world());
}

// The spectra of all ranks, one after the other, on rank 0.
Array gathered(const Extents& n, const RankGrid& grid, const Array& spectrum) {
  std::vector<int> counts, offsets;
  int total = 0;
  for (int rank = 0; rank < apps::ranks_of(grid.world()); ++rank) {
    counts.push_back(static_cast<int>(product(grid.after(n, rank))));
    offsets.push_back(total);
    total += counts.back();
  }
  Array all(apps::rank_of(grid.world()) == 0 ? total : 0);
  MPI_Gatherv(spectrum.data(), static_cast<int>(spectrum.size()), MPI_C_DOUBLE_COMPLEX, all.data(),
              counts.data(), offsets.data(), MPI_C_DOUBLE_COMPLEX, 0, grid.world());
  return all;
}

Array serial_spectrum(const Extents& n, int field) {
  Array values = noise(n, field, {{0, n[0]}, {0, n[1]}, {0, n[2]}});
  fftw_complex* data = as_fftw(values.data());
  const fftw_plan plan = fftw_plan_dft_3d(n[0], n[1], n[2], data, data, FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return values;
}

double serial_error(const Extents& n, const RankGrid& grid, int field, const Array& spectrum) {
  const Array all = gathered(n, grid, spectrum);
  double largest = 0;
  if (apps::rank_of(grid.world()) == 0) {
    const Array expected = serial_spectrum(n, field);
    std::size_t i = 0;
    for (int rank = 0; rank < apps::ranks_of(grid.world()); ++rank)
      each_after(grid.after(n, rank), [&](int x, int y, int z) {
        const std::size_t place = (static_cast<std::size_t>(x) * n[1] + y) * n[2] + z;
        largest = std::max(largest, std::abs(all[i++] - expected[place]));
      });
  }
  MPI_Bcast(&largest, 1, MPI_DOUBLE, 0, grid.world());
  return largest / std::sqrt(static_cast<double>(product(n)));
}

}  // namespace

Verdict judge(const Extents& n, const RankGrid& grid, const Method& method, std::span<Array> spectra,
              bool against_serial) {
  constexpr double rounding = 1e-12;  // for extents up to thousands: errors grow with their logarithm
  Verdict verdict;
  for (int field = 0; field < static_cast<int>(spectra.size()); ++field) {
    if (against_serial)
      verdict.serial = std::max(verdict.serial.value_or(0), serial_error(n, grid, field, spectra[field]));
    const double there_and_back = round_trip_error(n, grid, method, field, spectra[field]);
    verdict.round_trip = std::max(verdict.round_trip, there_and_back);
  }
  verdict.wave = wave_error(n, grid, method);
  verdict.right =
      verdict.round_trip < rounding && verdict.wave < rounding && verdict.serial.value_or(0) < rounding;
  return verdict;
}

}  // namespace fft3d
