// Partial results of all blocks up to the leaders, a reduce_scatter of groups' blocks among the outermost,
// and each block to its owner.
#include "passes/hierarchy/composer.hpp"

namespace hocket::passes {

using ir::Buffer;
using ir::Collective;

namespace {

/// The planes that a leader keeps: partial results, and results of those whom it speaks for.
enum Plane : std::uint32_t { partial, result, planes };

/// All blocks are one vector here. False: nobody was there to fold with, and the input is what there is.
bool fold_blocks_up(Composer& whole) {
  bool folded = false;
  const auto append = [&](Buffer buffer, std::uint32_t plane, Composer::Regions& regions) {
    if (buffer == Buffer::scratch) return regions.push_back(whole.scratch(plane, 0, whole.chunks()));
    const bool is_input = buffer == Buffer::input && !folded;
    regions.push_back(is_input ? ir::input(0, whole.chunks()) : whole.kept(partial, 0, whole.chunks()));
  };
  for (std::size_t level = 0; level < whole.levels_inside(); ++level) {
    if (whole.members(level).size() == 1) continue;
    whole.add(Collective::reduce, level, append);
    folded = true;
  }
  return folded;
}

}  // namespace

void compose_reduce_scatter(Composer& whole) {
  if (whole.leads()) whole.keep_planes(planes);
  const bool folded = fold_blocks_up(whole);
  const auto result_of = [&](std::uint32_t chunk) {
    return static_cast<Rank>(chunk) == whole.rank() ? ir::output(chunk) : whole.kept(result, chunk);
  };
  if (whole.reaches_top())
    whole.add_of_blocks(Collective::reduce_scatter, whole.top(), [&](Buffer buffer, std::uint32_t chunk) {
      if (buffer == Buffer::output) return result_of(chunk);
      return folded ? whole.kept(partial, chunk) : ir::input(chunk);
    });
  for (std::size_t level = whole.levels_inside(); level-- > 0;)
    whole.add_of_blocks(Collective::scatter, level,
                        [&](Buffer, std::uint32_t chunk) { return result_of(chunk); });
}

}  // namespace hocket::passes
