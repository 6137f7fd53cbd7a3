// A rank's process on the other side of the link.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "worker/rank_process.hpp"
#include "worker/remote/memory_client.hpp"

namespace hocket::worker::remote {

class RemoteProcess final : public RankProcess {
 public:
  RemoteProcess(Link& link, MemoryClient& memory, std::uint32_t desk, pid_t process)
      : link_(link), memory_(memory), desk_(desk), pid_(process) {}

  pid_t pid() const noexcept override { return pid_; }
  bool is_alive() const noexcept override { return is_alive_; }
  /// The host has said so.
  void end() noexcept { is_alive_ = false; }

  int read(std::uint64_t address, transports::Piece target) noexcept override {
    return memory_.read(desk_, address, target);
  }
  int write(std::uint64_t address, transports::Piece source) noexcept override {
    return memory_.write(desk_, address, source);
  }
  /// The host maps it; here nothing is.
  void share(const engine::SharedRange& range) override;
  Range range_of(std::uint64_t, std::size_t) const noexcept override { return nullptr; }
  void forget_ranges() noexcept override { link_.send({FrameKind::forget, desk_}); }

  void count_mapped() noexcept override {}  // never here
  void say_why(std::string_view words) noexcept override;
  void complete(std::uint32_t completion, Status status) noexcept override;

 private:
  Link& link_;
  MemoryClient& memory_;
  const std::uint32_t desk_;
  const pid_t pid_;
  bool is_alive_ = true;
};

}  // namespace hocket::worker::remote
