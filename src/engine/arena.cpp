#include "engine/arena.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "engine/arena_membership.hpp"
#include "engine/arena_memory.hpp"
#include "engine/arena_sockets.hpp"
#include "engine/memory_limits.hpp"
#include "engine/slot_directory.hpp"

namespace hocket::engine {
namespace {

class SharedArena final : public Arena {
 public:
  SharedArena(const JobIdentity& job, const ArenaSettings& settings);
  ~SharedArena() override;

  void introduce(Rank rank, Rank ranks) override;
  bool sealed() override;
  const std::string& why() const override { return why_; }
  void set_poke(bool (*poke)(void*) noexcept, void* context) override;

  bool has(Rank world_rank) const override { return local_rank_of_.contains(world_rank); }
  int local_ranks() const override { return static_cast<int>(local_rank_of_.size()); }
  int cores_for_job() const override { return cores_; }
  std::vector<CpuMask> cpus_of_ranks() const override {
    return taking_part() ? cpus_of_members(memory_) : std::vector<CpuMask>();
  }
  std::string absentees() const override { return taking_part() ? missing_ranks(memory_) : std::string(); }

  Slot carve(const SlotKey& key, std::size_t bytes, int users, Content content) override;
  void release(const SlotKey& key) override;

  bool alive(Rank world_rank) const override;
  int pid_of(Rank world_rank) const override { return entry_of(world_rank).pid; }
  std::string host_of(Rank world_rank) const override { return entry_of(world_rank).host; }
  std::span<std::byte, 64> card_of(Rank world_rank) override {
    return std::span<std::byte, 64>(entry_of(world_rank).card);
  }

  std::size_t budget_bytes() const override { return memory_ ? memory_.header().budget : 0; }
  std::size_t used_bytes() const override {
    return memory_ ? memory_.header().used.load(std::memory_order_relaxed) : 0;
  }

 private:
  enum class Phase { announced, introduced, entered, sealed, out };

  bool taking_part() const { return phase_.load(std::memory_order_acquire) == Phase::sealed; }
  bool in_child() const { return getpid() != process_; }
  RankEntry& entry_of(Rank world_rank) const;

  void advance();
  void try_to_enter();
  void look_at_verdict();
  void take_verdict(Verdict verdict);
  void leave(std::string reason);
  void give_up();
  void pause(int turn) const;

  JobIdentity job_;
  ArenaSettings settings_;
  std::string why_;
  pid_t process_ = getpid();
  std::mutex mutex_;  ///< among threads: everything up to sealing
  std::atomic<Phase> phase_{Phase::announced};

  ArenaMemory memory_;
  Descriptor listener_;   ///< local rank 0
  ArenaRequest request_;  ///< the others
  Newcomer self_;
  Deadline deadline_{0};  ///< of the rendezvous; counts from introduce()
  bool (*poke_)(void*) noexcept = nullptr;
  void* poke_context_ = nullptr;

  std::unordered_map<Rank, int> local_rank_of_;
  int cores_ = 1;
  std::unique_ptr<SlotDirectory> slots_;  ///< once sealed
};

SharedArena::SharedArena(const JobIdentity& job, const ArenaSettings& settings)
    : job_(job), settings_(settings), request_(arena_name(job.key)) {
  if (job.local_rank != 0) {
    require_memfd();
    request_.prepare();
    return;
  }
  const std::string name = arena_name(job.key);
  const std::size_t budget = settings.budget_bytes ? settings.budget_bytes : default_budget();
  memory_ = ArenaMemory::create(name, static_cast<std::size_t>(job.local_size), budget);
  listener_ = offer_arena(name);  // last: who connects finds the memory complete
}

/// A child of fork lets go of its copies only; nothing here changes what the ranks share.
SharedArena::~SharedArena() = default;

void SharedArena::set_poke(bool (*poke)(void*) noexcept, void* context) {
  const std::lock_guard<std::mutex> guard(mutex_);
  poke_ = poke;
  poke_context_ = context;
}

void SharedArena::introduce(Rank rank, Rank ranks) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (in_child() || phase_ != Phase::announced) return;
  self_ = {job_.local_rank, job_.local_size, rank, ranks, settings_.fingerprint};
  deadline_ = Deadline(settings_.setup_seconds);
  phase_ = Phase::introduced;
  advance();
}

void SharedArena::leave(std::string reason) {
  why_ = std::move(reason);
  phase_.store(Phase::out, std::memory_order_release);
}

void SharedArena::try_to_enter() {
  try {
    if (!memory_) {
      Descriptor file = request_.poll();
      if (!file) return;
      memory_ = ArenaMemory::attach(std::move(file));
    }
    std::string why_not;
    if (!enter(memory_, self_, why_not)) return leave(why_not);
    phase_ = Phase::entered;
  } catch (const Error& error) {
    leave(error.what());
  }
}

void SharedArena::take_verdict(Verdict verdict) {
  if (verdict == Verdict::refused) return leave(disagreement(memory_));
  if (memory_.entry(static_cast<std::size_t>(job_.local_rank)).state.load() != EntryState::member)
    return leave("the others went on without this rank, which came up too late");
  for (std::size_t local = 0; local < memory_.local_size(); ++local)
    if (const RankEntry& entry = memory_.entry(local);
        entry.state.load(std::memory_order_acquire) == EntryState::member)
      local_rank_of_.emplace(entry.world_rank, static_cast<int>(local));
  cores_ = cores_of_members(memory_);
  slots_ = std::make_unique<SlotDirectory>(memory_, job_.local_rank);
  if (local_rank_of_.size() == memory_.local_size()) listener_.reset();  // nobody is left to come
  phase_.store(Phase::sealed, std::memory_order_release);
}

void SharedArena::look_at_verdict() {
  Verdict verdict = memory_.header().verdict.load(std::memory_order_acquire);
  if (verdict == Verdict::open && !all_entered(memory_) && !deadline_.passed()) return;
  if (verdict == Verdict::open || verdict == Verdict::deciding) verdict = decide(memory_);
  take_verdict(verdict);
}

/// One step of the rendezvous, without waiting.
void SharedArena::advance() {
  if (listener_) serve_arena(listener_, memory_.file());
  if (phase_ == Phase::introduced) try_to_enter();
  if (phase_ == Phase::entered) look_at_verdict();
  if (phase_ == Phase::introduced && deadline_.passed()) leave(request_.waits_for());
}

/// Yields first, since the others are often here already; then sleeps, but never long, because the MPI below
/// must progress.
void SharedArena::pause(int turn) const {
  if (poke_) poke_(poke_context_);
  if (turn < 100) {
    sched_yield();
    return;
  }
  sleep_ns(turn < 200 ? 100'000 : 1'000'000);
}

bool SharedArena::sealed() {
  if (in_child()) return false;
  if (taking_part()) return true;
  const std::lock_guard<std::mutex> guard(mutex_);
  for (int turn = 0; phase_ == Phase::introduced || phase_ == Phase::entered; ++turn) {
    advance();
    if (phase_ == Phase::introduced || phase_ == Phase::entered) pause(turn);
  }
  if (phase_ == Phase::announced) why_ = "the MPI has not been initialised";
  return phase_ == Phase::sealed;
}

RankEntry& SharedArena::entry_of(Rank world_rank) const {
  const auto found = local_rank_of_.find(world_rank);
  if (found == local_rank_of_.end())
    throw Error("world rank " + std::to_string(world_rank) + " is not in the arena");
  return memory_.entry(static_cast<std::size_t>(found->second));
}

Slot SharedArena::carve(const SlotKey& key, std::size_t bytes, int users, Content content) {
  if (in_child() || !sealed()) return {};
  if (listener_)
    serve_arena(listener_, memory_.file());  // who comes late learns so now rather than at its bound
  return slots_->carve(key, bytes, users, content);
}

void SharedArena::release(const SlotKey& key) {
  if (!in_child() && slots_) slots_->release(key);
}

bool SharedArena::alive(Rank world_rank) const {
  const auto found = local_rank_of_.find(world_rank);
  return found != local_rank_of_.end() && is_alive(memory_, static_cast<std::size_t>(found->second));
}

}  // namespace

std::unique_ptr<Arena> Arena::announce(const JobIdentity& job, const ArenaSettings& settings) {
  return std::make_unique<SharedArena>(job, settings);
}

}  // namespace hocket::engine
