#include "engine/arena_membership.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "base/process_identity.hpp"
#include "engine/cores.hpp"
#include "engine/fingerprint.hpp"
#include "engine/record_lock.hpp"

namespace hocket::engine {
namespace {

template <std::size_t size>
void copy_text(char (&to)[size], const std::string& from) {
  std::snprintf(to, size, "%s", from.c_str());
}

std::string own_host() {
  char name[128] = "?";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string named(std::size_t local_rank, const std::string& host) {
  return "local rank " + std::to_string(local_rank) + " (host " + host + ")";
}

EntryState state_of(const ArenaMemory& memory, std::size_t local_rank) {
  return memory.entry(local_rank).state.load(std::memory_order_acquire);
}

std::vector<std::size_t> ranks_in(const ArenaMemory& memory, EntryState state) {
  std::vector<std::size_t> ranks;
  for (std::size_t local = 0; local < memory.local_size(); ++local)
    if (state_of(memory, local) == state) ranks.push_back(local);
  return ranks;
}

void fill(RankEntry& entry, const Newcomer& newcomer) {
  entry.world_rank = newcomer.world_rank;
  entry.world_size = newcomer.world_size;
  entry.pid = getpid();
  entry.start_time = start_time_of(getpid());
  entry.pid_namespace = pid_namespace();
  copy_text(entry.host, own_host());
  copy_text(entry.fingerprint, newcomer.fingerprint);
  entry.fingerprint_hash = hash_of(newcomer.fingerprint);
  const CpuLimits limits = cpu_limits();
  entry.cpu_controller = limits.controller;
  entry.cpu_quota = limits.quota;
  entry.cpus = limits.mask;
}

/// A process that cannot even read the entries ends it for all, unless it comes too late for that.
bool refuse(const ArenaMemory& memory, const std::string& text) {
  ArenaHeader& header = memory.header();
  if (header.verdict.load(std::memory_order_acquire) != Verdict::open) return false;
  copy_text(header.stranger, text);
  Verdict open = Verdict::open;
  return header.verdict.compare_exchange_strong(open, Verdict::refused, std::memory_order_acq_rel);
}

std::string strangeness(const ArenaMemory& memory, const Newcomer& newcomer) {
  const ArenaHeader& header = memory.header();
  const std::string who = named(static_cast<std::size_t>(newcomer.local_rank), own_host());
  if (header.layout != arena_layout_version)
    return who + " runs another version of Hocket: " + newcomer.fingerprint;
  if (header.local_size != static_cast<std::uint32_t>(newcomer.local_size))
    return who + " was told of " + std::to_string(newcomer.local_size) + " local ranks, local rank 0 of " +
           std::to_string(header.local_size);
  return {};
}

bool differs(const RankEntry& a, const RankEntry& b) {
  return a.fingerprint_hash != b.fingerprint_hash || a.world_size != b.world_size;
}

/// Two processes with one world rank: two jobs under one key.
bool has_duplicates(const ArenaMemory& memory, const std::vector<std::size_t>& members) {
  std::vector<int> ranks;
  for (std::size_t local : members) ranks.push_back(memory.entry(local).world_rank);
  std::sort(ranks.begin(), ranks.end());
  return std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end();
}

Verdict judge(const ArenaMemory& memory) {
  const std::vector<std::size_t> members = ranks_in(memory, EntryState::member);
  for (std::size_t local : members)
    if (differs(memory.entry(local), memory.entry(members.front()))) return Verdict::refused;
  return has_duplicates(memory, members) ? Verdict::refused : Verdict::sealed;
}

void close_entry(RankEntry& entry) {
  EntryState expected = EntryState::empty;
  entry.state.compare_exchange_strong(expected, EntryState::shut_out, std::memory_order_acq_rel);
  expected = EntryState::entered;
  entry.state.compare_exchange_strong(expected, EntryState::member, std::memory_order_acq_rel);
}

std::string difference(const ArenaMemory& memory, std::size_t local, std::size_t reference) {
  const RankEntry& a = memory.entry(local);
  const RankEntry& b = memory.entry(reference);
  const std::string who = named(local, a.host) + " and " + named(reference, b.host);
  if (a.world_size != b.world_size)
    return who + " are in worlds of " + std::to_string(a.world_size) + " and " +
           std::to_string(b.world_size) + " ranks";
  return who + " differ: " + fingerprint_difference(a.fingerprint, b.fingerprint);
}

}  // namespace

bool enter(const ArenaMemory& memory, const Newcomer& newcomer, std::string& why_not) {
  if (const std::string strange = strangeness(memory, newcomer); !strange.empty()) {
    refuse(memory, strange);
    why_not = strange;
    return false;
  }
  const auto local = static_cast<std::size_t>(newcomer.local_rank);
  if (!take_record_lock(memory.file(), presence_byte(local))) {
    why_not =
        "another process is local rank " + std::to_string(local) + ", or the arena's file cannot be locked";
    return false;
  }
  RankEntry& entry = memory.entry(local);
  EntryState expected = entry.state.load(std::memory_order_acquire);
  if (expected == EntryState::empty) {
    fill(entry, newcomer);
    if (entry.state.compare_exchange_strong(expected, EntryState::entered, std::memory_order_acq_rel))
      return true;
  }
  why_not = expected == EntryState::shut_out ? "the others went on without this rank, which came up too late"
                                             : "another process was local rank " + std::to_string(local);
  return false;
}

bool all_entered(const ArenaMemory& memory) {
  for (std::size_t local = 0; local < memory.local_size(); ++local)
    if (state_of(memory, local) == EntryState::empty) return false;
  return true;
}

Verdict decide(const ArenaMemory& memory) {
  std::atomic<Verdict>& verdict = memory.header().verdict;
  Verdict seen = Verdict::open;
  verdict.compare_exchange_strong(seen, Verdict::deciding, std::memory_order_acq_rel);
  if (seen == Verdict::sealed || seen == Verdict::refused) return seen;
  for (std::size_t local = 0; local < memory.local_size(); ++local) close_entry(memory.entry(local));
  const Verdict judged = judge(memory);  // of entries that cannot change any more
  verdict.store(judged, std::memory_order_release);
  return judged;
}

std::string disagreement(const ArenaMemory& memory) {
  if (memory.header().stranger[0]) return memory.header().stranger;
  const std::vector<std::size_t> members = ranks_in(memory, EntryState::member);
  for (std::size_t local : members)
    if (differs(memory.entry(local), memory.entry(members.front())))
      return difference(memory, local, members.front());
  return "two processes have the same rank: two jobs with one key?";
}

std::string missing_ranks(const ArenaMemory& memory) {
  std::string text;
  for (std::size_t local : ranks_in(memory, EntryState::shut_out))
    text += (text.empty() ? "" : ", ") + named(local, own_host());
  return text.empty() ? text : text + ": did not come up with Hocket in time";
}

int cores_of_members(const ArenaMemory& memory) {
  std::map<std::uint64_t, double> quotas;
  CpuMask cpus;
  for (std::size_t local : ranks_in(memory, EntryState::member)) {
    const RankEntry& entry = memory.entry(local);
    cpus |= entry.cpus;
    quotas[entry.cpu_controller] = entry.cpu_quota;
  }
  const auto cores = static_cast<int>(cpus.count());
  double quota = 0;
  for (const auto& [controller, allowed] : quotas) {
    if (allowed <= 0) return std::max(cores, 1);
    quota += allowed;
  }
  return std::max(1, quotas.empty() ? cores : std::min(cores, static_cast<int>(std::ceil(quota))));
}

std::vector<CpuMask> cpus_of_members(const ArenaMemory& memory) {
  std::vector<CpuMask> all;
  for (const std::size_t local : ranks_in(memory, EntryState::member))
    all.push_back(memory.entry(local).cpus);
  return all;
}

bool is_alive(const ArenaMemory& memory, std::size_t local_rank) {
  const RankEntry& entry = memory.entry(local_rank);
  const bool same_numbers = entry.pid_namespace == pid_namespace();
  if (same_numbers && entry.pid == getpid()) return true;
  const LockState lock = memory.file_intact()
                             ? record_lock_of_others(memory.file(), presence_byte(local_rank))
                             : LockState::unknown;
  if (lock == LockState::held) return true;
  // The lock is gone also when the program closed all its descriptors: ask for the process itself.
  if (same_numbers && entry.pid_namespace != 0) return start_time_of(entry.pid) == entry.start_time;
  return lock == LockState::unknown;
}

}  // namespace hocket::engine
