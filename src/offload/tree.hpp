// The job in the network: what all its ranks open together, and make groups of.
//
// How operations travel is left to SHARP's library: in pieces of `bytes_per_operation`, or, from a threshold
// on, as one stream, for which users set SHARP_COLL_ENABLE_SAT=1 (and SHARP_COLL_SAT_THRESHOLD, 16384).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "offload/context.hpp"
#include "offload/elements.hpp"
#include "offload/group.hpp"

namespace hocket::offload {

/// As one rank sees it.
struct Job {
  int rank = 0, size = 1, local_rank = 0;
  /// Several threads call, each for groups of its own; else one at a time does, whatever it calls.
  bool has_threads = false;
  /// In which something new must be heard; 0: any. Hocket's library looks at it where groups are made.
  int timeout_seconds = 0;
  /// SHARP's library may write its errors to standard error.
  bool is_verbose = false;
  /// Bytes of one operation of SHARP's; the groups cut longer aggregations. NCCL's plugin knows this limit of
  /// libraries below API 3.6.
  std::size_t longest_part = std::size_t{512} << 20U;
  /// Memory is registered for the library. Hocket's own does not look at handles.
  enum class Registers : std::uint8_t { if_looked_at, never, always } registers = Registers::if_looked_at;
};

/// Of each rank's libraries, environments and switches: what all have.
struct Terms {
  int error = SHARP_COLL_SUCCESS;
  Repertoire repertoire;
  bool has_reduce = false, has_bcast = false;
  bool streams = false;
  int groups = 0;                ///< that the job may have
  int operations_per_group = 0;  ///< outstanding, not streaming; what is more waits in the library
  int bytes_per_operation = 0;   ///< not streaming
};

class Tree {
 public:
  /// Of all ranks; `library` is a path or a name. Throws Error, on all ranks if on one, with SHARP's words.
  static std::unique_ptr<Tree> open(const std::string& library, const Job& job, OutOfBand& ranks);

  /// Alike on all ranks. Of bcast and barrier type and operation do not matter.
  bool takes(Kind kind, kernels::OpKind op, kernels::ElementType type) const noexcept;
  const Terms& terms() const noexcept { return terms_; }
  const std::string& library_name() const noexcept { return context_->library->name(); }
  std::string words_of(int error) const { return context_->library->words_of(error); }

  /// Of all its members; the verdict is one for all. Groups may outlive the tree.
  GroupOrReason make_group(const Member& self, OutOfBand& members);

  /// Goes on with all that is outstanding, of all groups.
  void progress() noexcept { context_->library->functions().progress(context_->handle); }

  /// All zero where nothing is registered.
  registration::Counters registrations() const noexcept;

 private:
  Tree(std::shared_ptr<Context> context, const Terms& terms) noexcept
      : context_(std::move(context)), terms_(terms) {}

  const std::shared_ptr<Context> context_;
  const Terms terms_;
};

}  // namespace hocket::offload
