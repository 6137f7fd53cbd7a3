// What is in the arena's memory, in this order: header, one entry per local rank, directory of slots, slots.
//
// Ranks of another Hocket version may map it as well: the header and the entries say so (`layout`) before
// anything else is believed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/cores.hpp"
#include "engine/slot_records.hpp"

namespace hocket::engine {

inline constexpr std::uint64_t arena_magic = 0x31746b636f48;  // "Hockt1"
inline constexpr std::uint32_t arena_layout_version = 3;
inline constexpr std::size_t arena_page = 4096;
inline constexpr std::size_t slot_entries = 4096;

/// The one answer for all ranks. It leaves `open` once.
enum class Verdict : std::uint32_t {
  open,      ///< ranks may enter
  deciding,  ///< nobody enters any more; whoever sees this may finish the decision: all come to the same
  sealed,    ///< the members are those whose entry says so
  refused,   ///< the ranks do not agree: nobody uses the arena
};

/// Each change is one compare-and-swap, so that a rank that enters and one that seals cannot both win.
enum class EntryState : std::uint32_t {
  empty,
  entered,
  member,
  shut_out,  ///< was not there in time
};

struct alignas(arena_page) RankEntry {
  std::atomic<EntryState> state;
  std::int32_t world_rank;
  std::int32_t world_size;
  std::int32_t pid;
  std::uint64_t start_time;
  std::uint64_t pid_namespace;
  std::uint64_t cpu_controller;  ///< which cgroup limits the CPU time; equal: a shared limit
  double cpu_quota;              ///< CPUs that it allows; 0: no limit
  alignas(64) std::byte card[64];
  char host[128];
  std::uint64_t fingerprint_hash;
  char fingerprint[2048];  ///< cut off if longer; the hash is of the whole
  CpuMask cpus;            ///< affinity
};

enum class SlotState : std::uint32_t {
  unused,
  live,
  denied,   ///< no memory: kept until all users have asked, so that all hear the same
  removed,  ///< was used: the search goes on behind it
  idle,     ///< freed, with its pages: for the next slot of this size
  lost,     ///< idle when a process died that changed the directory: perhaps live under another key
};

struct alignas(64) SlotEntry {
  SlotState state;
  std::uint32_t part;
  std::uint64_t origin;
  std::uint64_t members;
  std::uint64_t offset;
  std::uint64_t bytes;  ///< asked for
  std::uint32_t users;
  std::uint32_t arrived;
  std::uint32_t released;
};

struct alignas(arena_page) ArenaHeader {
  std::uint64_t magic;
  std::uint32_t layout;
  std::uint32_t local_size;
  std::uint64_t budget;
  std::atomic<Verdict> verdict;
  std::atomic<std::uint32_t> directory_owner;  ///< local rank + 1 of who changes the directory
  std::atomic<std::uint64_t> used;
  char stranger[512];  ///< who could not even enter, and why: part of a refusal
  Occupancy<slot_entries> occupancy;
  IdleList idle;
};
static_assert(sizeof(ArenaHeader) == arena_page);

static_assert(std::atomic<Verdict>::is_always_lock_free && std::atomic<EntryState>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + arena_page - 1) / arena_page * arena_page;
}
constexpr std::size_t directory_offset(std::size_t local_size) {
  return sizeof(ArenaHeader) + local_size * sizeof(RankEntry);
}
constexpr std::size_t slots_offset(std::size_t local_size) {
  return whole_pages(directory_offset(local_size) + slot_entries * sizeof(SlotEntry));
}

}  // namespace hocket::engine
