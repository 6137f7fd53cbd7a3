// On which host a rank of the job runs, for errors.
#pragma once

#include <string>

#include "engine/engine.hpp"

namespace hocket::engine {

/// Empty: not known. Known are the ranks of this node.
inline std::string host_name_of(Engine& engine, Rank world) {
  const Arena* arena = engine.arena();
  return arena && arena->has(world) ? arena->host_of(world) : std::string();
}

}  // namespace hocket::engine
