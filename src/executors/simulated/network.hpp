// A machine that need not exist: LogGP parameters per pair of levels (Alexandrov, Ionescu, Schauser, Scheiman
// 1995), and what a CPU pays per byte. Times are nanoseconds. docs/simulation.md says what they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/collective.hpp"

namespace hocket::executors::simulated {

using ir::Rank;

/// Of messages from `from` bytes on: an MPI changes its protocol with the size (eager, rendezvous).
struct LogGP {
  std::uint64_t from = 0;
  double L = 0;  ///< latency of the network
  double o = 0;  ///< CPU time of a sender, and of a receiver
  double g = 0;  ///< between the starts of two messages, of one byte
  double G = 0;  ///< per further byte
  double O = 0;  ///< CPU time per further byte (Hoefler, Schneider, Lumsdaine 2010), while the bytes travel

  /// What follows the first byte.
  double stretch(std::uint64_t bytes) const { return bytes > 1 ? static_cast<double>(bytes - 1) * G : 0.0; }
  double overhead(std::uint64_t bytes) const {
    return bytes > 1 ? o + static_cast<double>(bytes - 1) * O : o;
  }
  /// Gall: how long a message keeps the next one waiting.
  double gap(std::uint64_t bytes) const { return g + stretch(bytes); }
};

/// What all ranks of a group share on the way out of it, and once more on the way in: the network card of a
/// node, the uplink of a leaf switch.
struct Link {
  double g = 0;  ///< a message keeps the next one of the link waiting for g + s G
  double G = 0;
};

/// Ranks that are this near to each other: in one group. Groups are `ranks` consecutive ranks each, or, for
/// ranks that are anywhere, what `group_of` says.
struct Level {
  std::string name;
  Rank ranks = 0;  ///< 0: all of them
  bool shared_memory = false;
  std::vector<LogGP> protocols;
  std::optional<Link> link = {};
  std::vector<std::uint32_t> group_of = {};  ///< of each rank

  const LogGP& at(std::uint64_t bytes) const;
  bool holds_all() const { return ranks == 0 && group_of.empty(); }
  std::uint32_t group(Rank rank) const {
    if (!group_of.empty()) return group_of[static_cast<std::size_t>(rank)];
    return ranks == 0 ? 0 : static_cast<std::uint32_t>(rank / ranks);
  }
  bool holds(Rank a, Rank b) const { return group(a) == group(b); }
};

/// Switches that reduce: one in each group of the levels that hold nodes.
struct Switches {
  double latency = 0;  ///< of each, whenever data pass it: up, down, and once at the top
  double G = 0;        ///< per byte that it takes from each below, and gives to each
};

struct Network {
  std::vector<Level> levels;  ///< from the nearest to the farthest, which holds all ranks
  double copy = 0;            ///< per byte copied, also from shared memory
  double reduce = 0;          ///< per byte and pair of operands
  std::optional<Switches> switches = {};

  /// Throws hocket::Error where something is missing or impossible, for that many ranks.
  void check(Rank ranks) const;
  /// The number of the level that two ranks are near by: a message leaves the groups of all levels before.
  std::size_t distance(Rank a, Rank b) const;
  const Level& between(Rank a, Rank b) const { return levels[distance(a, b)]; }
  bool has_links() const;
  /// The number of the innermost level whose ranks share no memory.
  std::size_t first_switch_level() const;
};

}  // namespace hocket::executors::simulated
