// One per process: options, arena, report counters, and what the engine needs from the MPI below.
#pragma once

#include <memory>
#include <string>

#include "base/options.hpp"
#include "engine/arena.hpp"
#include "engine/report.hpp"
#include "tuning/rules.hpp"

namespace hocket::engine {

/// Called while waiting: progresses the MPI below, so that a peer's rendezvous to this rank does not stall.
struct Host {
  void (*poke)(void* context) noexcept = nullptr;
  void* context = nullptr;
};

class Engine {
 public:
  Engine(const Options& options, Host host);
  ~Engine();

  const Options& options() const { return options_; }
  const Host& host() const { return host_; }
  Report& report() { return report_; }
  const tuning::Rules& rules() const { return rules_; }

  /// Null until announced, or if there can be no arena; why_not() says the reason.
  Arena* arena() { return arena_.get(); }
  const std::string& why_not() const { return why_not_; }

  void before_init();                    ///< before the native MPI_Init or Session_init
  void after_init(Rank rank, Rank ranks);

 private:
  Options options_;
  Host host_;
  Report report_;
  tuning::Rules rules_;
  std::unique_ptr<Arena> arena_;
  std::string why_not_;
};

}  // namespace hocket::engine
