// Where all ranks of the job are: their nodes, and the switches above these. Found out once, by all ranks
// together.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/options.hpp"
#include "passes/neighbourhood.hpp"

namespace hocket::engine {

using ir::Rank;

/// IPv4 addresses of a host, as the kernel writes them; 0: no more. Those of more interfaces are not told.
using InternetAddresses = std::array<std::uint32_t, 4>;

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

class Places {
 public:
  /// `names`: 1 + `levels` for each world rank: its node, and the switches that it knows of. Whoever did not
  /// read the machine's description is where the others of its node are.
  Places(std::span<const std::uint64_t> names, std::size_t levels);

  /// So that what the network says of an address says something of a rank.
  void set_internet(std::vector<InternetAddresses> of_ranks) { internet_ = std::move(of_ranks); }
  /// Address::socket of all ranks.
  void set_sockets(std::span<const std::uint64_t> of_ranks);
  /// `address` as text: 10.0.0.1.
  bool has_internet(Rank world_rank, const std::string& address) const noexcept;

  passes::Neighbourhood of(std::span<const Rank> members) const;
  std::uint32_t nodes() const noexcept { return groups_on(0); }
  /// Groups under the switches of the lowest level; 1 where nothing is known of switches.
  std::uint32_t leaves() const noexcept { return rows_.size() > 1 ? groups_on(1) : 1; }
  /// Sockets that ranks are bound to, and nodes whose ranks are bound to none; 0 where nobody is bound.
  std::uint32_t sockets() const noexcept;

 private:
  std::uint32_t groups_on(std::size_t row) const noexcept;

  std::vector<passes::GroupNumbers> rows_;
  passes::GroupNumbers sockets_;  ///< empty: nobody is bound to one
  std::vector<InternetAddresses> internet_;
};

}  // namespace hocket::engine
