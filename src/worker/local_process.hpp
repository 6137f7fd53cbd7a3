// A rank's process on the machine of its worker: the kernel reads and writes its memory, unless both map it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/handover/desks.hpp"
#include "worker/rank_process.hpp"

namespace hocket::worker {

class LocalProcess final : public RankProcess {
 public:
  /// `desk` is where it sits, and outlives this.
  LocalProcess(engine::handover::Desk& desk, pid_t process);

  pid_t pid() const noexcept override { return pid_; }
  bool is_alive() const noexcept override;
  int read(std::uint64_t address, transports::Piece target) noexcept override;
  int write(std::uint64_t address, transports::Piece source) noexcept override;
  void share(const engine::SharedRange& range) override;
  Range range_of(std::uint64_t address, std::size_t bytes) const noexcept override;
  void forget_ranges() noexcept override { ranges_.clear(); }
  void count_mapped() noexcept override { desk_.mapped.fetch_add(1, std::memory_order_relaxed); }
  void say_why(std::string_view words) noexcept override;
  void complete(std::uint32_t completion, Status status) noexcept override;

 private:
  static constexpr std::size_t most_ranges = 16;
  engine::handover::Desk& desk_;
  const pid_t pid_;
  const std::uint64_t started_;
  std::size_t told_ = 0;
  std::vector<Range> ranges_;
};

}  // namespace hocket::worker
