// A worker on another processor than its ranks: it serves them as one beside them would, and what it needs of
// their machine a process there does (Forwarder). A network card's processor, or another host.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "engine/handover/stream.hpp"
#include "worker/glances.hpp"
#include "worker/remote/remote_process.hpp"
#include "worker/remote/setup.hpp"
#include "worker/served_ranks.hpp"

namespace hocket::worker::remote {

class RemoteWorker final : private ServedRanks::Front {
 public:
  /// Answers the host. Throws Error.
  explicit RemoteWorker(Applicant applicant);

  /// Until the host needs it no more. False: the link broke before, and the workers of other nodes should not
  /// hear that anything has ended in order.
  bool run();

 private:
  /// A rank: the bytes that it tells go through a stream, as they have beside it.
  struct Guest {
    std::unique_ptr<engine::handover::StreamMemory> stream =
        std::make_unique<engine::handover::StreamMemory>();
    engine::handover::StreamWriter writer{*stream};
    std::uint64_t taken = 0;           ///< as the host knows
    RemoteProcess* process = nullptr;  ///< of who serves it
  };

  void beat() noexcept override;
  void connected() noexcept override { link_->send({FrameKind::connected}); }
  void given_up(std::uint32_t desk) override { link_->send({FrameKind::given_up, desk}); }

  bool hear();
  void carry_out(const Frame& frame);
  void welcome(const FrameHead& head);
  void take_commands(const Frame& frame);
  void say_taken() noexcept;
  bool is_needed() const noexcept;
  void rest() noexcept;

  const std::uint32_t desks_;
  std::unique_ptr<Link> link_;
  MemoryClient memory_;
  std::map<std::uint32_t, Guest> guests_;  ///< by desk; streams stay
  ServedRanks ranks_;
  bool is_dismissed_ = false;
  std::uint64_t beat_ns_ = 0;
  Glances glances_;
};

}  // namespace hocket::worker::remote
