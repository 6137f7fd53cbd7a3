// What each job has got of a switch: groups, outstanding operations, and for one job at a time the lock for
// streaming.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "switch/groups/limits.hpp"
#include "switch/wire/frames.hpp"

namespace hocket::aggregation {

class Jobs {
 public:
  explicit Jobs(const Limits& limits) : limits_(limits) {}

  // A host of the job is connected. False: there are too many jobs.
  bool admit(std::uint64_t job);
  void see_off(std::uint64_t job);

  // For a group. `reserve` says why not: job_refused, group_refused, quota.
  wire::Error reserve(std::uint64_t job);
  void release(std::uint64_t job);

  // For a group. `lock` says why not: lock_denied, lock_taken.
  wire::Error lock(std::uint64_t job) noexcept;
  void unlock() noexcept { --locks_; }

  std::size_t count() const noexcept { return jobs_.size(); }

 private:
  struct Job {
    std::uint32_t hosts = 0, groups = 0;
  };
  using Row = std::map<std::uint64_t, Job>::iterator;

  /// The end: there are too many.
  Row row_of(std::uint64_t job);
  void forget_if_idle(Row row);

  const Limits& limits_;
  std::map<std::uint64_t, Job> jobs_;
  std::uint64_t holder_ = 0;  ///< of the lock, where there are any
  std::uint32_t locks_ = 0;
};

}  // namespace hocket::aggregation
