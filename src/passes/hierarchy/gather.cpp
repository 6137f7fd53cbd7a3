// Leaders keep the blocks of those whom they speak for, until they send them on as one message.
#include "passes/hierarchy/composer.hpp"

namespace hocket::passes {

using ir::Buffer;

void compose_gather(Composer& whole) {
  if (whole.leads() && !whole.is_root()) whole.keep_planes(1);
  const auto place_on = [&](std::size_t level) {
    return [&whole, level](Buffer buffer, std::uint32_t chunk) {
      const bool is_own = static_cast<Rank>(chunk) == whole.rank();
      if (whole.is_root())
        return buffer == Buffer::input && level == 0 ? ir::input(chunk) : ir::output(chunk);
      return is_own ? ir::input(chunk) : whole.kept(0, chunk);
    };
  };
  for (std::size_t level = 0; level < whole.levels_inside(); ++level)
    whole.add_of_blocks(ir::Collective::gather, level, place_on(level));
  if (whole.reaches_top()) whole.add_of_blocks(ir::Collective::gather, whole.top(), place_on(whole.top()));
}

void compose_gather_in_groups(Composer& whole) {
  const auto place = [&whole](Buffer, std::uint32_t chunk) {
    return static_cast<Rank>(chunk) == whole.rank() ? ir::input(chunk) : ir::output(chunk);
  };
  for (std::size_t level = 0; level < whole.levels_inside(); ++level)
    whole.add_of_blocks(ir::Collective::gather, level, place);
}

}  // namespace hocket::passes
