// A machine that need not exist: LogGP parameters per pair of levels (Alexandrov, Ionescu, Schauser, Scheiman
// 1995), and what a CPU pays per byte. Times are nanoseconds. docs/simulation.md says what they mean.
#pragma once

#include <cstdint>
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

/// Ranks that are this near to each other: in the same group of `ranks` consecutive ones.
struct Level {
  std::string name;
  Rank ranks = 0;  ///< 0: all of them
  bool shared_memory = false;
  std::vector<LogGP> protocols;

  const LogGP& at(std::uint64_t bytes) const;
  bool holds(Rank a, Rank b) const { return ranks == 0 || a / ranks == b / ranks; }
};

struct Network {
  std::vector<Level> levels;  ///< from the nearest to the farthest, which holds all ranks
  double copy = 0;            ///< per byte copied, also from shared memory
  double reduce = 0;          ///< per byte and pair of operands

  /// Throws hocket::Error where something is missing or impossible.
  void check() const;
  const Level& between(Rank a, Rank b) const;
};

}  // namespace hocket::executors::simulated
