// Where all ranks of the job are: their nodes, and the switches above these. Found out once, by all ranks
// together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "engine/internet_addresses.hpp"
#include "passes/neighbourhood.hpp"

namespace hocket::engine {

using ir::Rank;

/// What a rank says of itself. Names are hashes, so that all have one size; 0: not known.
struct Address {
  std::uint64_t node = 0;
  std::vector<std::uint64_t> switches;  ///< from the inside out; each stands for all that is above it, too
  InternetAddresses internet{};
  std::uint64_t socket = 0;  ///< of its node, that the rank is bound to, counted from 1; 0: to none
};

/// Of this rank. The machine's description is read by one rank of each node alone (`reads`): it may be large.
/// Throws Error where it cannot be read.
Address address_of(const Options& options, Rank world_rank, bool reads);

/// Its node and as many switches as the rank with most has. Where its own end before, the outermost of them
/// stays: nodes under different leaves are not together for having nothing above these but the root.
std::vector<std::uint64_t> names_of(const Address& address, std::size_t levels);

/// What all ranks have said, a rank after the other.
struct Told {
  std::size_t levels = 0;            ///< of switches that any of them knows
  std::vector<std::uint64_t> names;  ///< 1 + levels of each: its node, and its switches
  std::vector<std::uint64_t> sockets;
  std::vector<std::uint32_t> internet;  ///< as many of each as InternetAddresses has
};

class Places {
 public:
  /// Whoever did not read the machine's description is where the others of its node are. `tables`: of all
  /// ranks of the job. Throws Error where a node is under two switches.
  explicit Places(const Told& told,
                  std::shared_ptr<passes::Tables> tables = std::make_shared<passes::OwnTables>());

  /// The network says something of an address; `address` as text: 10.0.0.1.
  bool has_internet(Rank world_rank, const std::string& address) const noexcept;

  /// `tables`: of these members.
  passes::Neighbourhood of(std::span<const Rank> members, std::shared_ptr<passes::Tables> tables =
                                                              std::make_shared<passes::OwnTables>()) const;
  std::uint32_t nodes() const noexcept { return groups_[0]; }
  /// Groups under the switches of the lowest level; 1 where nothing is known of switches.
  std::uint32_t leaves() const noexcept { return levels_ > 0 ? groups_[1] : 1; }
  /// Sockets that ranks are bound to, and nodes whose ranks are bound to none; 0 where nobody is bound.
  std::uint32_t sockets() const noexcept { return groups_.back(); }

 private:
  void fill(const Told& told, passes::NewTable table) const;
  std::uint32_t group(std::size_t row, Rank rank) const;

  std::shared_ptr<passes::Tables> tables_;
  std::size_t ranks_, levels_;
  passes::Table groups_;    ///< of nodes, of each level of switches, of sockets
  passes::Table rows_;      ///< each rank's group: as many rows
  passes::Table internet_;  ///< InternetAddresses of each rank
};

}  // namespace hocket::engine
