// A communicator whose ranks share this node's arena.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "engine/call_marks.hpp"
#include "engine/communicator.hpp"
#include "engine/compiled/small_blocks.hpp"
#include "engine/decision.hpp"
#include "engine/guard.hpp"
#include "engine/plans.hpp"
#include "engine/single_copy.hpp"
#include "engine/size_samples.hpp"
#include "executors/binding.hpp"
#include "transports/shm/cells.hpp"
#include "transports/shm/staging.hpp"
#include "tuning/rules.hpp"

namespace hocket::engine {

class NodeCommunicator final : public Communicator {
 public:
  NodeCommunicator(Engine& engine, const SlotKey& key, std::span<const Rank> members, Rank rank,
                   std::byte* lines);
  ~NodeCommunicator() override;

  Outcome run(const Call& call) noexcept override;
  Repeatable repeatable() const noexcept override;
  Outcome repeat(const Repeatable& call, const void* input, void* output, bool in_place) noexcept override;
  void native_ended() noexcept override;
  void mark_native(Function function) noexcept override;
  void give_up(const std::string& reason) noexcept override { guard_.fail(Status::no_memory, reason); }
  std::string error() const override { return guard_.error(); }

 private:
  /// A part of the slot that is carved at its first need.
  struct Part {
    std::uint32_t number = 0;  ///< in the slot's key
    bool asked = false;
    std::byte* memory = nullptr;
  };

  Decision* sampled_decision(const Call& call) noexcept;                    ///< null: no memory
  Decision* decision_for(const CallKind& kind, const Call& call) noexcept;  ///< null: no memory
  CallKind kind_of(const Call& call, std::size_t bytes) const noexcept;
  Decision* decide_anew(const CallKind& kind, const Call& call) noexcept;  ///< null: no memory
  Outcome run_decided(Decision& decision, const Call& call) noexcept;
  Outcome run_path(const Decision& decision, const Path& path, const Call& call) noexcept;
  Outcome run_trial(Decision& decision, const Call& call) noexcept;
  void decide(Decision& decision, const Call& call);
  tuning::Situation situation_of(const Decision& decision, const Call& call);
  Path path_for(const CallKind& kind, const Call& call, const tuning::Choice& choice);
  Path planned(const CallKind& kind, const Call& call, const tuning::Choice& choice);
  Path native(const CallKind& kind, std::string_view reason);
  void begin_trial(Decision& decision, const Call& call, const tuning::Situation& situation,
                   const tuning::Choice& ruled);
  bool is_current(const Decision& decision, const CallKind& kind) const noexcept;
  void report_failure(Status status) noexcept;
  bool has_memory_for(const algorithms::Algorithm& algorithm);
  std::byte* part(Part& part, std::size_t bytes);

  Status execute(const Path& path, const Call& call, std::uint32_t signature) noexcept;
  Status run_one_sided(const executors::Plan& plan, const executors::Operation& op, std::uint32_t signature);
  Status run_two_sided(const executors::Plan& plan, const executors::Operation& op, std::uint32_t signature);
  Status run_blocks(const Path& path, const Call& call, std::uint32_t signature);
  Status transfer(const executors::Plan& plan, const executors::Operation& op);
  const executors::Operation& with_copied_input(const executors::Operation& op);
  void count(const Path& path, const Call& call, std::uint64_t started_ns) noexcept;

  Engine& engine_;
  SlotKey key_;
  std::vector<Rank> members_;
  Guard guard_;
  transports::shm::Channel channel_;
  SingleCopy single_copy_;
  Part lines_{.number = 0, .asked = true}, staging_memory_{.number = 1}, cells_memory_{.number = 2};
  std::unique_ptr<transports::shm::Staging> staging_;
  std::unique_ptr<transports::shm::Cells> cells_;
  std::unique_ptr<transports::cma::ExposedMemory> exposed_;
  Plans plans_;
  Decisions decisions_;
  Decision* last_ = nullptr;                         ///< of the last run(), if it can be repeated
  std::array<Decision*, function_count> sampled_{};  ///< the last ones of functions without known sizes
  CallMark mark_;                                    ///< of the call under way
  Trials trials_;
  SizeSamples size_samples_;
  OwnRows rows_;
  /// A trial's call that the MPI is running.
  struct {
    Trial* trial = nullptr;
    std::size_t path = 0;
    std::uint64_t started_ns = 0;
  } native_trial_;
  executors::Workspace workspace_;
  compiled::SmallBlocks small_blocks_;
  executors::Operation copied_;  ///< of an in-place call, with its input in input_copy_
  std::vector<std::byte> input_copy_;
  std::vector<std::ptrdiff_t> copied_offsets_;
  std::vector<const void*> sources_;
  bool timed_;
};

}  // namespace hocket::engine
