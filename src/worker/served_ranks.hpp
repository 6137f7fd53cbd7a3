// The ranks that one worker process serves, and what they have in common: the network to the workers of other
// nodes, and who is there. One thread does everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "engine/internet_addresses.hpp"
#include "worker/fabric.hpp"
#include "worker/served.hpp"

namespace hocket::worker {

class ServedRanks final : private Served::Office {
 public:
  /// Through which the ranks hear of their worker: desks (Daemon), or a link to them (RemoteWorker).
  class Front {
   public:
    /// Something that takes long goes on.
    virtual void beat() noexcept = 0;
    /// The workers of all nodes know each other.
    virtual void connected() noexcept = 0;
    /// A rank has said what no rank says, and is not served any more.
    virtual void given_up(std::uint32_t desk) = 0;

   protected:
    ~Front() = default;
  };
  struct Terms {
    std::uint32_t desks = 1;     ///< local ranks
    double stall_seconds = 0;    ///< after which who does not answer is suspected; 0: never
    std::size_t idle_bytes = 0;  ///< of a rank's mirrors that are not in use; 0: by the machine's memory
  };

  ServedRanks(Front& front, const Terms& terms);
  ~ServedRanks();
  ServedRanks(const ServedRanks&) = delete;
  ServedRanks& operator=(const ServedRanks&) = delete;

  /// How other workers reach this one, in their network's words; empty: not at all, and why.
  std::span<const std::byte> address() const noexcept { return fabric_->address(); }
  const std::string& why_alone() const noexcept { return why_alone_; }

  /// Serves the rank at this desk from now on. `commands` outlives it.
  void add(std::uint32_t desk, ir::Rank rank, std::unique_ptr<RankProcess> process,
           engine::handover::StreamMemory& commands);
  /// It has ended, or for the others it is as good as dead: what it has said goes on its way.
  void see_off(std::uint32_t desk);
  bool serves(std::uint32_t desk) const noexcept { return served_.contains(desk); }
  bool is_alive(std::uint32_t desk) const { return served_.at(desk)->is_alive(); }
  std::vector<std::uint32_t> desks() const;

  /// What they have told, and what is under way. True: something has moved.
  bool turn();
  /// Now and then: who does not answer, and who is done with.
  void look_around(std::uint64_t now_ns);
  bool is_empty() const noexcept { return served_.empty(); }
  /// Nothing is under way.
  bool is_idle() const noexcept;
  /// Of the network.
  /// None where no turn looks at the network: what comes would ring until one does.
  Alarm alarm() noexcept;
  /// All that those have said who have ended is on its way.
  bool have_left() const noexcept;

 private:
  using Leaving = std::pair<std::unique_ptr<Served>, Deadline>;

  void connect(const engine::handover::Connect& command, ir::Rank from) override;
  std::unique_ptr<transports::mpi::Port> port_of(ir::Rank rank) override;
  bool still_reads() noexcept override { return fabric_->still_reads(); }
  bool has_lost(ir::Rank rank) noexcept override { return fabric_->has_lost(rank); }
  void beat() noexcept override { front_.beat(); }
  void suspect(ir::Rank rank) noexcept override;

  void open_fabric();
  std::uint32_t own_process(const engine::handover::Connect& command, ir::Rank from) const;
  static bool has_left(const Leaving& one) noexcept;

  Front& front_;
  const double stall_seconds_;
  const std::size_t idle_bytes_;
  std::unique_ptr<Fabric> fabric_;
  std::string why_alone_;
  std::vector<engine::InternetAddresses> host_of_;  ///< by rank of the job; empty: not known
  std::vector<bool> expected_;  ///< ranks of the job that are to be served here; empty: not known yet
  std::map<std::uint32_t, std::unique_ptr<Served>> served_;  ///< by desk
  std::vector<Leaving> leaving_;                             ///< of ranks that have ended
  std::uint64_t listened_ns_ = 0;
};

}  // namespace hocket::worker
