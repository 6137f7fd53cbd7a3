// Runs a communicator's calls along the paths that were decided, and owns what they run on: the slots of the
// arena beside the flag lines, workspaces, and copies of what an in-place call would overwrite.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/catalog.hpp"
#include "base/status.hpp"
#include "engine/call.hpp"
#include "engine/call_marks.hpp"
#include "engine/compiled/small_blocks.hpp"
#include "engine/input_copy.hpp"
#include "engine/path.hpp"
#include "engine/single_copy.hpp"
#include "engine/slot_part.hpp"
#include "executors/binding.hpp"
#include "transports/cma/exposed_memory.hpp"
#include "transports/shm/cells.hpp"
#include "transports/shm/channel.hpp"
#include "transports/shm/staging.hpp"

namespace hocket::engine {

class PathRunner {
 public:
  /// `key`: of the communicator's slots. All others outlive it.
  PathRunner(Arena& arena, const SlotKey& key, transports::shm::Channel& channel,
             const SingleCopy& single_copy);
  PathRunner(const PathRunner&) = delete;
  PathRunner& operator=(const PathRunner&) = delete;

  /// Carves what the algorithm runs on. False: the arena's budget is spent.
  bool has_memory_for(const algorithms::Algorithm& algorithm);
  void fit(const executors::Plan& plan) { workspace_.fit(plan); }

  /// A call that is not native. `mark`: of the call, for the instances that it takes beyond its first.
  Status run(const Path& path, const Call& call, std::uint32_t signature, const CallMark& mark) noexcept {
    if (path.flat) return path.flat->run({channel_, call, signature, path.published, sources_.data()});
    return interpret(path, call, signature, mark);
  }

  /// After Status::mismatch and Status::failed: why, where this rank knows it.
  const std::optional<compiled::Disagreement>& disagreement() const noexcept {
    return small_blocks_.disagreement();
  }
  std::optional<transports::cma::ReadFailure> read_failure() const noexcept;

 private:
  Status interpret(const Path& path, const Call& call, std::uint32_t signature,
                   const CallMark& mark) noexcept;
  Status run_one_sided(const executors::Plan& plan, const executors::Operation& op, std::uint32_t signature,
                       const CallMark& mark);
  Status run_two_sided(const Path& path, const executors::Operation& op, std::uint32_t signature);
  Status run_blocks(const Path& path, const Call& call, std::uint32_t signature);
  Status transfer(const Path& path, const executors::Operation& op);

  transports::shm::Channel& channel_;
  SlotPart staging_memory_, cells_memory_;
  const std::optional<std::size_t> least_loan_;
  transports::cma::PeerMemory peers_;
  transports::shm::Staging staging_;
  transports::cma::ExposedMemory<transports::shm::Staging> exposed_;
  std::unique_ptr<transports::shm::Cells> cells_;
  executors::Workspace workspace_;
  compiled::SmallBlocks small_blocks_;
  InputCopy input_copy_;
  std::vector<const void*> sources_;
};

}  // namespace hocket::engine
