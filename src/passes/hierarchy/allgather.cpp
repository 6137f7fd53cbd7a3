// Blocks up to the leaders, an allgather of their groups' blocks among the outermost, and everything down.
#include "passes/hierarchy/composer.hpp"

namespace hocket::passes {

using ir::Buffer;
using ir::Collective;

void compose_allgather(Composer& whole) {
  const auto place_on = [](std::size_t level) {
    return [level](Buffer buffer, std::uint32_t chunk) {
      return buffer == Buffer::input && level == 0 ? ir::input(chunk) : ir::output(chunk);
    };
  };
  for (std::size_t level = 0; level < whole.levels_inside(); ++level)
    whole.add_of_blocks(Collective::gather, level, place_on(level));
  if (whole.reaches_top()) whole.add_of_blocks(Collective::allgather, whole.top(), place_on(whole.top()));
  const Composer::Append everything = [&](Buffer, std::uint32_t, Composer::Regions& regions) {
    regions.push_back(ir::output(0, whole.chunks()));
  };
  for (std::size_t level = whole.levels_inside(); level-- > 0;)
    whole.add(Collective::bcast, level, everything);
}

}  // namespace hocket::passes
