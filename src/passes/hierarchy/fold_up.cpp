// What reductions do below the top.
#include "passes/hierarchy/composer.hpp"

namespace hocket::passes {

using ir::Buffer;
using ir::Region;

std::function<Region(std::uint32_t)> fold_up(Composer& whole,
                                             const std::function<Region(std::uint32_t)>& target) {
  std::function<Region(std::uint32_t)> mine = [](std::uint32_t chunk) { return ir::input(chunk); };
  for (std::size_t level = 0; level < whole.levels_inside(); ++level) {
    if (whole.members(level).size() == 1) continue;
    whole.add_of_vectors(ir::Collective::reduce, level, [&](Buffer buffer, std::uint32_t chunk) {
      return buffer == Buffer::input ? mine(chunk) : target(chunk);
    });
    mine = target;
  }
  return mine;
}

}  // namespace hocket::passes
