// The table made from catalog.def, and what can be asked of it.
#include "algorithms/catalog.hpp"

#include "algorithms/builders.hpp"
#include "algorithms/formulas.hpp"

namespace hocket::algorithms {
namespace {

constexpr Parameter radix_of_tree[] = {{"radix", 2, 2, 64}};
constexpr Parameter pipelined_tree[] = {{"radix", 2, 2, 64}, {"segments", 8, 1, 1024}};
constexpr Parameter pipelined[] = {{"segments", 8, 1, 1024}};
constexpr Parameter radix_of_barrier[] = {{"radix", 8, 2, 64}};
constexpr Parameter leaders[] = {{"leaders", 2, 1, 64}};
constexpr Parameter window[] = {{"window", 0, 0, 1024}};
constexpr Parameter at_least_chunks[] = {{"chunks", 1, 1, 64}};

// A formula of the request `r`, as a member of a row.
#define COUNT(...) [](const Request& r) { return static_cast<void>(r), count_of(__VA_ARGS__); }
#define WINDOW(...) [](const Request& r) { return static_cast<void>(r), (__VA_ARGS__); }
#define WHETHER(...) [](const Request& r) { return static_cast<bool>(__VA_ARGS__); }

constexpr Algorithm rows[] = {
#define ALGORITHM(shape, title, ...) \
  {.collective = Collective::shape, .name = #title, .build = build_##shape##_##title, __VA_ARGS__},
#include "algorithms/catalog.def"
#undef ALGORITHM
};

#undef COUNT
#undef WINDOW
#undef WHETHER

/// One rank has nobody to talk to: the same for every row, so that builders may assume two ranks.
void build_alone(const Request& r, std::uint32_t chunks, Builder& b) {
  using enum Collective;
  if (r.collective == barrier || r.collective == bcast || r.collective == exscan) return;
  b.copy(ir::output(0, chunks), ir::input(0, chunks));
}

}  // namespace

std::span<const Algorithm> catalog() {
  return rows;
}

const Algorithm* find(Collective collective, std::string_view name) {
  for (const Algorithm& row : rows)
    if (row.collective == collective && row.name == name) return &row;
  return nullptr;
}

std::uint32_t chunks_of(const Algorithm& algorithm, const Request& request) {
  if (algorithm.collective == Collective::barrier) return 0;
  if (ir::is_blocks(algorithm.collective)) return count_of(request.ranks);
  return algorithm.chunks ? algorithm.chunks(request) : 1;
}

bool fits(const Algorithm& algorithm, const Request& request) {
  return !algorithm.fits || algorithm.fits(request);
}

ir::Parameters presets(const Algorithm& algorithm) {
  ir::Parameters values{};
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) values[i] = algorithm.parameters[i].preset;
  return values;
}

ir::Schedule build(const Algorithm& algorithm, const Request& request) {
  ir::Schedule schedule;
  schedule.collective = request.collective;
  schedule.ranks = request.ranks;
  schedule.rank = request.rank;
  schedule.root = request.root;
  schedule.chunks = chunks_of(algorithm, request);
  const bool others = request.ranks > 1;
  if (others && algorithm.staging) schedule.staging = algorithm.staging(request);
  if (others && algorithm.scratch_planes) schedule.scratch_planes = algorithm.scratch_planes(request);
  Builder builder(schedule);
  if (others)
    algorithm.build(request, builder);
  else
    build_alone(request, schedule.chunks, builder);
  builder.finish();
  return schedule;
}

std::int32_t parameter(const Algorithm& algorithm, const ir::Parameters& values, std::string_view name,
                       std::int32_t otherwise) {
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    if (algorithm.parameters[i].name == name) return values[i];
  return otherwise;
}

}  // namespace hocket::algorithms
