// A group's claim on its switches for streaming. All members ask; a switch takes its own lock when all of its
// children have asked, and asks above; the verdict comes down to all. Members may have given it back and ask
// again while others still have it: rounds are counted.
#pragma once

#include <cstdint>

#include "switch/groups/jobs.hpp"
#include "switch/groups/roster.hpp"
#include "switch/groups/statistics.hpp"

namespace hocket::aggregation {

class TreeLock {
 public:
  TreeLock(const Roster& roster, std::uint64_t job, Jobs& jobs, Statistics& statistics)
      : roster_(roster), job_(job), jobs_(jobs), statistics_(statistics) {}

  // Throw wire::Malformed for what nobody who keeps count says.
  /// `below`: a refusal there.
  void ask(Child& child, wire::Error below);
  void give_back(Child& child);
  /// The verdict from above.
  void conclude(wire::Error error);

  /// A child has left: who waits for it goes on without it.
  void go_on();
  bool is_held() const noexcept { return state_ == State::held; }
  /// This switch's own lock.
  void release() noexcept;

 private:
  enum class State : std::uint8_t { open, asked, held };

  bool have_all(std::uint32_t Child::* count) const noexcept;
  void ask_above();
  void refuse() noexcept;

  const Roster& roster_;
  const std::uint64_t job_;
  Jobs& jobs_;
  Statistics& statistics_;
  State state_ = State::open;
  bool is_mine_ = false;  ///< this switch's own lock has been taken
  wire::Error refusal_ = wire::Error::none;
  std::uint32_t round_ = 0;  ///< how many are over
};

}  // namespace hocket::aggregation
