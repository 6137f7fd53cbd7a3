#include "worker/local_process.hpp"

#include "base/error.hpp"
#include "base/process_identity.hpp"
#include "transports/cma/process_memory.hpp"
#include "transports/waiting.hpp"

namespace hocket::worker {

LocalProcess::LocalProcess(engine::handover::Desk& desk, pid_t process)
    : desk_(desk), pid_(process), started_(start_time_of(process)) {}

bool LocalProcess::is_alive() const noexcept {
  return started_ != 0 && start_time_of(pid_) == started_;
}

int LocalProcess::read(std::uint64_t address, transports::Piece target) noexcept {
  return transports::cma::read_process_memory(pid_, address, target);
}

int LocalProcess::write(std::uint64_t address, transports::Piece source) noexcept {
  return transports::cma::write_process_memory(pid_, address, source);
}

void LocalProcess::share(const engine::SharedRange& range) {
  if (++told_ > most_ranges) throw Error("a rank with too many memories");
  try {
    ranges_.push_back(std::make_shared<const MappedRange>(pid_, range));
  } catch (const Error&) {
    return;
  }
}

RankProcess::Range LocalProcess::range_of(std::uint64_t address, std::size_t bytes) const noexcept {
  for (const Range& range : ranges_)
    if (range->holds(address, bytes)) return range;
  return nullptr;
}

void LocalProcess::say_why(std::string_view words) noexcept {
  desk_.words[words.copy(desk_.words.data(), desk_.words.size() - 1)] = '\0';
}

/// Who goes to sleep says so before it looks at the word: one of both sees what the other has written.
void LocalProcess::complete(std::uint32_t completion, Status status) noexcept {
  engine::handover::Completion& word = desk_.completions[completion];
  word.store(engine::handover::completion_of(status), std::memory_order_seq_cst);
  if (desk_.sleepers.load(std::memory_order_seq_cst) != 0) transports::wake(&word);
}

}  // namespace hocket::worker
