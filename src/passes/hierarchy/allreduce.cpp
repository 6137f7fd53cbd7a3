// Up to the leaders, an allreduce among the outermost, and down.
#include "passes/hierarchy/composer.hpp"

namespace hocket::passes {

using ir::Buffer;
using ir::Collective;

void compose_allreduce(Composer& whole) {
  const auto result = [](std::uint32_t chunk) { return ir::output(chunk); };
  const auto mine = fold_up(whole, result);
  if (whole.reaches_top())
    whole.add_of_vectors(Collective::allreduce, whole.top(), [&](Buffer buffer, std::uint32_t chunk) {
      return buffer == Buffer::input ? mine(chunk) : result(chunk);
    });
  for (std::size_t level = whole.levels_inside(); level-- > 0;)
    whole.add_of_vectors(Collective::bcast, level,
                         [&](Buffer, std::uint32_t chunk) { return result(chunk); });
}

}  // namespace hocket::passes
