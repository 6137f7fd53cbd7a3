// The memory that the ranks of one job share on one node, and who they are.
//
// A memfd handed over Unix sockets: no name is left behind, a small /dev/shm does not matter. See
// docs/design/0001-the-engine.md, "Set-up without collective MPI calls".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cores.hpp"
#include "engine/job_identity.hpp"
#include "ir/collective.hpp"

namespace hocket::engine {

using ir::Rank;

/// Identity of a communicator's slot; all members compute the same one alone.
struct SlotKey {
  std::uint64_t origin = 0;   ///< how the communicator was made
  std::uint64_t members = 0;  ///< hash of its world ranks, in order
  std::uint32_t part = 0;     ///< 0: flag lines; 1: staging; 2: cells; ...
  bool operator==(const SlotKey&) const = default;
};

/// What a new slot holds.
enum class Content : std::uint8_t {
  zeros,
  anything,  ///< nobody reads what was not written before: spares clearing what an earlier slot has left
  spare,     ///< zeros, for who can do without: refused where that leaves less than half of the budget
};

struct Slot {
  std::byte* memory = nullptr;  ///< null: the budget is spent, for all ranks alike
  std::size_t bytes = 0;
};

struct ArenaSettings {
  std::size_t budget_bytes = 0;  ///< HOCKET_MEMORY; 0: a default from the machine's and the cgroup's memory
  double setup_seconds = 10;     ///< bound of the rendezvous
  std::string fingerprint;       ///< version and options that all ranks must share, readable ("hocket 0.1.0;
                                 ///< HOCKET_FORCE=...")
};

class Arena {
 public:
  /// Before the native MPI_Init: local rank 0 makes the memory and listens. Never blocks. Throws Error with
  /// the reason if there can be no arena.
  static std::unique_ptr<Arena> announce(const JobIdentity& job, const ArenaSettings& settings);
  virtual ~Arena() = default;

  /// After it: this process is world rank `rank` of `ranks` and takes its place in the memory, if that is
  /// within reach already. Never blocks.
  virtual void introduce(Rank rank, Rank ranks) = 0;

  /// Makes sure that the arena is sealed: waits until all expected ranks have joined or the bound has passed,
  /// whichever is first. False: this process takes no part; why() says the reason (late, version differs, no
  /// memory, ...). Cheap when sealed.
  virtual bool sealed() = 0;
  virtual const std::string& why() const = 0;

  /// Called while sealed() waits: progresses the MPI below, whose other calls must not stall meanwhile.
  virtual void set_poke(bool (*poke)(void* context) noexcept, void* context) = 0;

  /// The sealed set, the same on all its members.
  virtual bool has(Rank world_rank) const = 0;
  virtual int local_ranks() const = 0;
  /// CPUs that these ranks may use together (affinity masks, cgroup quotas): fewer than local_ranks() means
  /// oversubscribed.
  virtual int cores_for_job() const = 0;
  virtual std::vector<CpuMask> cpus_of_ranks() const = 0;  ///< the affinity of each of them
  /// Ranks of this node that did not come up as expected, for the report: "local rank 3 (host n01): no
  /// preload".
  virtual std::string absentees() const = 0;

  /// Find or make the slot; each of its `users` processes calls it once, and all alike. Page-reserved (never
  /// a SIGBUS).
  virtual Slot carve(const SlotKey& key, std::size_t bytes, int users, Content content = Content::zeros) = 0;
  /// Each user once; the memory then waits for the next slot of its size, or goes back to the system.
  virtual void release(const SlotKey& key) = 0;

  /// False once the process of that world rank has ended (its record lock is gone). A system call: for slow
  /// paths only.
  virtual bool alive(Rank world_rank) const = 0;
  virtual int pid_of(Rank world_rank) const = 0;  ///< in its own PID namespace
  virtual std::string host_of(Rank world_rank) const = 0;
  /// 64 bytes per world rank of the node for the data paths (cookie address, namespaces): read by peers.
  virtual std::span<std::byte, 64> card_of(Rank world_rank) = 0;

  virtual std::size_t budget_bytes() const = 0;
  virtual std::size_t used_bytes() const = 0;
};

}  // namespace hocket::engine
