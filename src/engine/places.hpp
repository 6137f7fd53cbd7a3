// Where all ranks of the job are: their nodes, and the switches above these. Found out once, by all ranks
// together.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "passes/neighbourhood.hpp"

namespace hocket::engine {

using ir::Rank;

/// What a rank says of itself. Names are hashes, so that all have one size; 0: not known.
struct Address {
  std::uint64_t node = 0;
  std::vector<std::uint64_t> switches;  ///< from the inside out; each stands for all that is above it, too
};

/// Of this rank. The machine's description is read by one rank of each node alone (`reads`): it may be large.
/// Throws Error where it cannot be read.
Address address_of(const Options& options, Rank world_rank, bool reads);

class Places {
 public:
  /// `names`: 1 + `levels` for each world rank: its node, and the switches that it knows of. Whoever did not
  /// read the machine's description is where the others of its node are.
  Places(std::span<const std::uint64_t> names, std::size_t levels);

  passes::Neighbourhood of(std::span<const Rank> members) const;
  std::uint32_t nodes() const noexcept { return groups_on(0); }
  /// Groups under the switches of the lowest level; 1 where nothing is known of switches.
  std::uint32_t leaves() const noexcept { return rows_.size() > 1 ? groups_on(1) : 1; }

 private:
  std::uint32_t groups_on(std::size_t row) const noexcept;

  std::vector<passes::GroupNumbers> rows_;
};

}  // namespace hocket::engine
