// Looks after long waits: dead peers, calls that do not match those that the MPI runs, stalls. And keeps a
// communicator's error, which its first failing rank writes for all.
#pragma once

#include <span>
#include <string>

#include "engine/engine.hpp"
#include "transports/shm/channel.hpp"

namespace hocket::engine {

class Guard final : public transports::Watch {
 public:
  Guard(Engine& engine, std::span<const Rank> members) : engine_(engine), members_(members) {}
  void watch(transports::shm::Channel& channel) { channel_ = &channel; }

  Status look(Rank peer, std::uint64_t waited_ns) noexcept override;

  /// Notes the communicator as given up in the call of this number, and composes the text, unless another
  /// rank has done so.
  void fail(std::uint32_t call, Status status, const std::string& detail = {}) noexcept;
  bool failed() const noexcept;
  std::string error() const;

 private:
  bool calls_differ(Rank peer) const noexcept;
  void report_stall(std::uint64_t waited_ns) noexcept;
  std::string explain(std::uint32_t call, Status status, const std::string& detail) const;
  std::string name_of(Rank rank) const;

  Engine& engine_;
  std::span<const Rank> members_;
  transports::shm::Channel* channel_ = nullptr;
  Rank dead_ = -1;
};

}  // namespace hocket::engine
