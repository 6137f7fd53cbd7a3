// From the root, which leads all groups it is in, to the other outermost leaders, and down.
#include "passes/hierarchy/composer.hpp"

namespace hocket::passes {

void compose_bcast(Composer& whole) {
  const auto place = [&](ir::Buffer buffer, std::uint32_t chunk) {
    return buffer == ir::Buffer::input && whole.is_root() ? ir::input(chunk) : ir::output(chunk);
  };
  if (whole.reaches_top()) whole.add_of_vectors(ir::Collective::bcast, whole.top(), place);
  for (std::size_t level = whole.levels_inside(); level-- > 0;)
    whole.add_of_vectors(ir::Collective::bcast, level, place);
}

}  // namespace hocket::passes
