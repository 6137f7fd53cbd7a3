#include "switch/groups/jobs.hpp"

namespace hocket::aggregation {

using wire::Error;

Jobs::Row Jobs::row_of(std::uint64_t job) {
  if (const Row row = jobs_.find(job); row != jobs_.end()) return row;
  return jobs_.size() < limits_.jobs ? jobs_.try_emplace(job).first : jobs_.end();
}

void Jobs::forget_if_idle(Row row) {
  if (row->second.hosts == 0 && row->second.groups == 0) jobs_.erase(row);
}

bool Jobs::admit(std::uint64_t job) {
  const Row row = row_of(job);
  if (row == jobs_.end()) return false;
  ++row->second.hosts;
  return true;
}

void Jobs::see_off(std::uint64_t job) {
  const Row row = jobs_.find(job);
  --row->second.hosts;
  forget_if_idle(row);
}

Error Jobs::reserve(std::uint64_t job) {
  const Row row = row_of(job);
  if (row == jobs_.end()) return Error::job_refused;
  const std::uint64_t groups = std::uint64_t{row->second.groups} + 1;
  Error error = Error::none;
  if (groups > limits_.groups)
    error = Error::group_refused;
  else if (groups * limits_.operations_per_group > limits_.operations)
    error = Error::quota;
  else
    ++row->second.groups;
  forget_if_idle(row);
  return error;
}

void Jobs::release(std::uint64_t job) {
  const Row row = jobs_.find(job);
  --row->second.groups;
  forget_if_idle(row);
}

Error Jobs::lock(std::uint64_t job) noexcept {
  if (!limits_.can_stream) return Error::lock_denied;
  if (locks_ > 0 && holder_ != job) return Error::lock_taken;
  holder_ = job;
  ++locks_;
  return Error::none;
}

}  // namespace hocket::aggregation
