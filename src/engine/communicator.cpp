#include "engine/communicator.hpp"

#include <algorithm>

#include "engine/guard.hpp"
#include "engine/node_communicator.hpp"

namespace hocket::engine {

namespace {

/// FNV-1a over the ranks, in order.
std::uint64_t hash_of(std::span<const Rank> members) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const Rank r : members) h = (h ^ static_cast<std::uint32_t>(r)) * 0x100000001b3U;
  return h;
}

}  // namespace

std::unique_ptr<Communicator> Communicator::open(Engine& engine, std::uint64_t origin,
                                                 std::span<const Rank> members, Rank rank,
                                                 std::string& why_not) {
  Arena* arena = engine.arena();
  if (!arena || !arena->sealed()) {
    why_not = arena ? arena->why() : engine.why_not();
    return nullptr;
  }
  if (!engine.device_runtime().empty()) {
    why_not = engine.device_runtime() +
              " is loaded: buffers may be device memory (HOCKET_DEVICE=host if they are not)";
    return nullptr;
  }
  if (!std::all_of(members.begin(), members.end(), [&](Rank r) { return arena->has(r); })) {
    const std::string absent = arena->absentees();
    why_not = absent.empty() ? "some of its ranks are on other nodes" : absent;
    return nullptr;
  }
  const SlotKey key{origin, hash_of(members), 0};
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

}  // namespace hocket::engine
