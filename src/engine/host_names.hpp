// On which host a rank of the job runs, for errors.
#pragma once

#include <span>
#include <string>

#include "engine/engine.hpp"

namespace hocket::engine {

/// Empty: not known. Known are the ranks of this node.
inline std::string host_name_of(Engine& engine, Rank world) {
  const Arena* arena = engine.arena();
  return arena && arena->has(world) ? arena->host_of(world) : std::string();
}

/// "rank 2 (rank 5 of the job on n3)": of a communicator with these members.
inline std::string name_of_member(Engine& engine, std::span<const Rank> members, Rank rank) {
  const Rank world = members[static_cast<std::size_t>(rank)];
  const std::string host = host_name_of(engine, world);
  return "rank " + std::to_string(rank) + " (rank " + std::to_string(world) + " of the job" +
         (host.empty() ? "" : " on " + host) + ")";
}

}  // namespace hocket::engine
