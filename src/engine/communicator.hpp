// The engine's side of one MPI communicator whose ranks all live on this node.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/call.hpp"
#include "engine/engine.hpp"
#include "engine/outstanding.hpp"
#include "engine/prepared.hpp"

namespace hocket::engine {

class Communicator {
 public:
  /// `members`: world ranks in communicator order. `origin`: how it was made (see SlotKey). Null, with the
  /// reason, when it is left to the MPI: not all members on this node or in the arena. The answer is the same
  /// on all members.
  static std::unique_ptr<Communicator> open(Engine& engine, std::uint64_t origin,
                                            std::span<const Rank> members, Rank rank, std::string& why_not);
  virtual ~Communicator() = default;

  /// What becomes of a call, from everything but its buffers: `ours`, or `native` (then the caller runs the
  /// MPI's own). So data that have to be packed are packed only for whom runs them. No allocation once warm.
  virtual Outcome begin(const Call& call) noexcept = 0;
  /// After Outcome::ours, with the buffers.
  virtual Outcome carry_out(const Call& call) noexcept = 0;
  /// Both, where there is nothing to pack.
  Outcome run(const Call& call) noexcept {
    const Outcome begun = begin(call);
    return begun == Outcome::ours ? carry_out(call) : begun;
  }

  /// After begin(): its call for repeat(). Calls with tables of sizes and with the user's own operations
  /// cannot be repeated.
  virtual Repeatable repeatable() const noexcept = 0;
  virtual Outcome repeat(const Repeatable& call, const void* input, void* output, bool in_place) noexcept = 0;

  /// After an outcome that is timed, when the call has ended.
  virtual void ended() noexcept = 0;

  /// What becomes of non-blocking and persistent calls of this kind, from everything but their buffers. It
  /// may be given up by later calls, unless it is in use (Prepared::users). Null: see error(). Waits for
  /// nobody.
  virtual Prepared* prepare(const Call& call, Form form) noexcept = 0;
  /// prepare() would say the same of its kind of calls now.
  virtual bool is_up_to_date(const Prepared& prepared) const noexcept = 0;
  /// The same for one persistent request, whose starts are numbered by themselves: all ranks make a
  /// communicator's persistent requests in the same order, but start them in any.
  virtual std::unique_ptr<Prepared> prepare_persistent(const Call& call) noexcept = 0;
  /// A call that is not native, with the buffers: numbered, but not advanced yet. It outlives the operation.
  /// Null: see error(). Started calls of a communicator, or of a persistent request, are in the same order on
  /// all ranks.
  virtual Outstanding* start(Prepared& prepared, const Call& call) noexcept = 0;

  /// Its operations make calls of the MPI to go on: a thread that may not, cannot help them.
  virtual bool runs_over_mpi() const noexcept { return false; }

  /// A collective that this communicator leaves to the MPI without asking run(): its mark for stall reports
  /// and mismatches.
  virtual void mark_native(Function function) noexcept = 0;

  /// This rank cannot take part in a call that the others may be in: ends it for all, with this reason.
  virtual void give_up(const std::string& reason) noexcept = 0;

  /// After Outcome::error: text that names ranks and calls.
  virtual std::string error() const = 0;
};

}  // namespace hocket::engine
