#include "interpose/plugin/world_groups.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "interpose/plugin/host.hpp"

namespace hocket::interpose {
namespace {

struct WorldGroup {
  HandleBits owner;
  MPI_Group group;
};

// Never destroyed: MPI may be called while the program's statics are.
auto& groups = *new std::vector<WorldGroup>;
std::mutex mutex;

std::vector<engine::Rank> ranks_in(MPI_Group world_group, MPI_Group group, const std::vector<int>& places) {
  std::vector<int> world(places.size());
  if (host().Group_translate_ranks(group, static_cast<int>(places.size()), places.data(), world_group,
                                   world.data()) != MPI_SUCCESS)
    return {};
  if (std::find(world.begin(), world.end(), MPI_UNDEFINED) != world.end()) return {};
  return {world.begin(), world.end()};
}

}  // namespace

void keep_world_group(HandleBits owner, MPI_Group group) {
  const std::lock_guard lock(mutex);
  groups.push_back({owner, group});
}

void free_world_group(HandleBits owner) {
  const std::lock_guard lock(mutex);
  std::erase_if(groups, [&](WorldGroup& world) {
    if (world.owner != owner) return false;
    host().Group_free(&world.group);
    return true;
  });
}

std::vector<engine::Rank> world_ranks(MPI_Group group) {
  int size = 0;
  if (host().Group_size(group, &size) != MPI_SUCCESS || size < 0) return {};
  std::vector<int> places(static_cast<std::size_t>(size));
  std::iota(places.begin(), places.end(), 0);
  const std::lock_guard lock(mutex);
  for (const WorldGroup& world : groups)
    if (auto ranks = ranks_in(world.group, group, places); !ranks.empty()) return ranks;
  return {};
}

}  // namespace hocket::interpose
