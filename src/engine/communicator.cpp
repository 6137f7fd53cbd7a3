#include "engine/communicator.hpp"

#include <algorithm>

#include "engine/guard.hpp"
#include "engine/node_communicator.hpp"
#include "engine/spread_communicator.hpp"

namespace hocket::engine {

namespace {

/// FNV-1a over the ranks, in order.
std::uint64_t hash_of(std::span<const Rank> members) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const Rank r : members) h = (h ^ static_cast<std::uint32_t>(r)) * 0x100000001b3U;
  return h;
}

/// Why not all members can use this rank's arena.
std::string obstacle(Engine& engine) {
  Arena* arena = engine.arena();
  if (!arena || !arena->sealed()) return arena ? arena->why() : engine.why_not();
  const std::string absent = arena->absentees();
  return absent.empty() ? "some of its ranks are on other nodes" : absent;
}

std::unique_ptr<Communicator> open_on_node(Engine& engine, const SlotKey& key, std::span<const Rank> members,
                                           Rank rank, std::string& why_not) {
  Arena* arena = engine.arena();
  const auto ranks = static_cast<Rank>(members.size());
  const Slot slot = arena->carve(key, transports::shm::bytes_for(ranks), static_cast<int>(ranks));
  if (!slot.memory) {
    why_not = "the arena's budget is spent (HOCKET_MEMORY)";
    return nullptr;
  }
  try {
    return std::make_unique<NodeCommunicator>(engine, key, members, rank, slot.memory);
  } catch (...) {
    // The ranks that open theirs would wait for this one.
    post_failure(*transports::shm::Layout(slot.memory).header,
                 [] { return "no memory to open a communicator on one of its ranks"; });
    arena->release(key);
    throw;
  }
}

}  // namespace

std::unique_ptr<Communicator> Communicator::open(Engine& engine, std::uint64_t origin,
                                                 std::span<const Rank> members, Rank rank,
                                                 std::string& why_not) {
  if (!engine.device_runtime().empty()) {
    why_not = engine.device_runtime() +
              " is loaded: buffers may be device memory (HOCKET_DEVICE=host if they are not)";
    return nullptr;
  }
  const SlotKey key{origin, hash_of(members), 0};
  if (engine.arena() && engine.arena()->sealed() && engine.on_one_node(members))
    return open_on_node(engine, key, members, rank, why_not);
  if (engine.network()) return std::make_unique<SpreadCommunicator>(engine, key, members, rank);
  why_not = obstacle(engine);
  return nullptr;
}

}  // namespace hocket::engine
