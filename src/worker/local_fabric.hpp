// Messages between the ranks that one worker process serves, copied once from buffer to buffer. For jobs of
// one node, and where there is no network.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "worker/fabric.hpp"

namespace hocket::worker {

class LocalFabric final : public Fabric {
 public:
  std::span<const std::byte> address() const noexcept override { return {}; }
  /// The addresses do not matter.
  void connect(const std::vector<std::vector<std::byte>>& addresses,
               std::vector<std::uint32_t> process_of) override;
  /// What it sends to ranks of other processes goes nowhere.
  std::unique_ptr<transports::mpi::Port> port(Rank self, Rank ranks) override;

  bool has_lost(Rank) const noexcept override { return false; }
  void lose(Rank) noexcept override {}
  bool still_reads() noexcept override { return false; }
  std::string carriers() const override { return "memory within this process"; }

 private:
  class LocalPort;

  /// A message that nobody has taken, or a receive that has met none.
  struct Waiting {
    LocalPort* port;
    transports::mpi::Port::Ticket ticket;
    bool operator==(const Waiting&) const = default;
  };
  /// By Tag, and among equal ones in the order in which they came.
  using Line = std::multimap<std::uint64_t, Waiting>;

  bool is_out_of_reach(Rank rank) const noexcept;
  void let_go(const LocalPort& port) noexcept;

  std::vector<std::uint32_t> process_of_;  ///< by rank
  std::uint32_t own_ = 0;
  std::vector<Rank> gone_;  ///< have had a port
  Line sends_, receives_;   ///< never both of the same key
};

}  // namespace hocket::worker
