// gather backwards: leaders get the blocks of those whom they speak for as one message.
#include "passes/hierarchy/composer.hpp"

namespace hocket::passes {

using ir::Buffer;

void compose_scatter(Composer& whole) {
  if (whole.leads() && !whole.is_root()) whole.keep_planes(1);
  const auto place_on = [&](std::size_t level) {
    return [&whole, level](Buffer buffer, std::uint32_t chunk) {
      const bool is_own = static_cast<Rank>(chunk) == whole.rank();
      if (whole.is_root())
        return buffer == Buffer::output && level == 0 ? ir::output(chunk) : ir::input(chunk);
      return is_own ? ir::output(chunk) : whole.kept(0, chunk);
    };
  };
  if (whole.reaches_top()) whole.add_of_blocks(ir::Collective::scatter, whole.top(), place_on(whole.top()));
  for (std::size_t level = whole.levels_inside(); level-- > 0;)
    whole.add_of_blocks(ir::Collective::scatter, level, place_on(level));
}

}  // namespace hocket::passes
