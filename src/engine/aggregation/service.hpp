// The job's aggregation tree, as the engine of one process has it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/aggregation/room.hpp"
#include "engine/aggregation/trace.hpp"
#include "engine/call_kind.hpp"
#include "engine/report.hpp"
#include "offload/tree.hpp"
#include "transports/mpi/network.hpp"
#include "transports/waiting.hpp"

namespace hocket::engine::aggregation {

/// As all ranks open it.
struct ServicePlace {
  std::string library;  ///< of SHARP; empty: none here, so nobody has one
  Rank local_rank = 0;
  std::uint64_t patience_ns = 0;  ///< in which the network has to do something; 0: any
  std::string trace;              ///< file for it; empty: none
};

class Service {
 public:
  /// Collective among all ranks of the job, who get the same verdict. Throws Error that says why there is
  /// none.
  static std::unique_ptr<Service> open(const ServicePlace& place, transports::mpi::Network& network,
                                       const transports::Waiting& waiting, Report& report);

  offload::Tree& tree() noexcept { return *tree_; }
  Room& room() noexcept { return room_; }
  Report& report() noexcept { return report_; }
  std::uint64_t patience_ns() const noexcept { return patience_ns_; }
  /// Null: none is asked for, of this rank.
  Trace* trace() noexcept { return trace_file_.empty() ? nullptr : &trace_; }
  /// Before the report is written: what it has to say of registered memory.
  void note_registrations() noexcept;
  /// Where a trace is asked for, of this rank.
  void write_trace() noexcept;
  /// Whether the network can do a call of this kind, alike on all ranks.
  bool takes(ir::Collective collective, const CallKind& kind) const noexcept;
  /// Vectors of any length at once, alike on all ranks.
  bool streams() const noexcept { return tree_->terms().streams; }
  /// Once in the report.
  void note(std::string_view what, const std::string& why) noexcept;

 private:
  Service(std::unique_ptr<offload::Tree> tree, Report& report, std::uint64_t patience_ns,
          std::string trace_file)
      : tree_(std::move(tree)),
        report_(report),
        patience_ns_(patience_ns),
        trace_file_(std::move(trace_file)) {}

  const std::unique_ptr<offload::Tree> tree_;
  Report& report_;
  const std::uint64_t patience_ns_;
  const std::string trace_file_;
  Trace trace_;
  Room room_;
};

}  // namespace hocket::engine::aggregation
