// A node's worker: its door, its desks, the ranks that it serves, and the network to the workers of other
// nodes. One thread does everything.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "engine/handover/door.hpp"
#include "engine/internet_addresses.hpp"
#include "worker/fabric.hpp"
#include "worker/served.hpp"

namespace hocket::worker {

struct Employment {
  engine::handover::Entrance entrance;
  std::uint32_t desks = 1;  ///< local ranks
  pid_t employer = 0;       ///< who is waited for until a rank has come
  std::string version;
  double stall_seconds = 0;    ///< after which who does not answer is suspected; 0: never
  std::size_t idle_bytes = 0;  ///< of a rank's mirrors that are not in use; 0: by the machine's memory
};

class Daemon final : private Served::Office {
 public:
  /// Throws Error.
  explicit Daemon(const Employment& employment);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Until no rank is left.
  void run();

 private:
  using Leaving = std::pair<std::unique_ptr<Served>, Deadline>;

  void connect(const engine::handover::Connect& command, ir::Rank from) override;
  std::unique_ptr<transports::mpi::Port> port_of(ir::Rank rank) override;

  bool still_reads() noexcept override { return fabric_->still_reads(); }
  bool has_lost(ir::Rank rank) noexcept override { return fabric_->has_lost(rank); }
  void beat() noexcept override { desks_.header().pulse.fetch_add(1, std::memory_order_relaxed); }
  void suspect(ir::Rank rank) noexcept override;

  void open_fabric();
  std::uint32_t own_process(const engine::handover::Connect& command, ir::Rank from) const;
  static bool has_left(const Leaving& one) noexcept;
  bool turn();
  void look_around();
  void look_for_silence(std::uint64_t now_ns) noexcept;
  void welcome(std::uint32_t desk);
  void see_off_the_dead();
  void give_up(std::uint32_t desk, int error);
  bool is_needed() const;
  bool is_idle() const;
  void hear_doorbell();
  void rest();

  std::unique_ptr<Fabric> fabric_;
  engine::handover::Desks desks_;
  engine::handover::Door door_;
  const pid_t employer_;
  const std::uint64_t employer_started_;
  const double stall_seconds_;
  const std::size_t idle_bytes_;
  std::vector<engine::InternetAddresses> host_of_;  ///< by rank of the job; empty: not known
  std::vector<bool> expected_;  ///< ranks of the job that are to be served here; empty: not known yet
  std::map<std::uint32_t, std::unique_ptr<Served>> served_;  ///< by desk
  std::vector<Leaving> leaving_;                             ///< of ranks that have ended
  std::vector<std::uint32_t> empty_;                         ///< desks that nobody has taken
  std::vector<std::uint32_t> given_up_;                      ///< of living ranks that are not served
  bool had_ranks_ = false;
  std::uint64_t looked_ns_ = 0;
  std::uint64_t listened_ns_ = 0;
  std::uint32_t rings_ = 0;    ///< of the doorbell, as heard
  std::uint64_t told_ns_ = 0;  ///< when it was heard last
};

}  // namespace hocket::worker
