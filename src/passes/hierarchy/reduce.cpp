// Partial results of groups go up to the root, which leads all groups it is in.
#include "passes/hierarchy/composer.hpp"

namespace hocket::passes {

void compose_reduce(Composer& whole) {
  if (whole.leads() && !whole.is_root()) whole.keep_planes(1);
  const auto target = [&](std::uint32_t chunk) {
    return whole.is_root() ? ir::output(chunk) : whole.kept(0, chunk);
  };
  const auto mine = fold_up(whole, target);
  if (whole.reaches_top())
    whole.add_of_vectors(ir::Collective::reduce, whole.top(), [&](ir::Buffer buffer, std::uint32_t chunk) {
      return buffer == ir::Buffer::input ? mine(chunk) : target(chunk);
    });
}

}  // namespace hocket::passes
