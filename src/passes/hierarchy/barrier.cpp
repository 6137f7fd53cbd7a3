// Empty messages to the leaders, a barrier among the outermost, and back.
#include "passes/hierarchy/composer.hpp"

namespace hocket::passes {

void compose_barrier(Composer& whole) {
  const Composer::Append nothing = [](ir::Buffer, std::uint32_t, Composer::Regions&) {};
  for (std::size_t level = 0; level < whole.levels_inside(); ++level)
    whole.add(ir::Collective::reduce, level, nothing);
  if (whole.reaches_top()) whole.add(ir::Collective::barrier, whole.top(), nothing);
  for (std::size_t level = whole.levels_inside(); level-- > 0;)
    whole.add(ir::Collective::bcast, level, nothing);
}

}  // namespace hocket::passes
