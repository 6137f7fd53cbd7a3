// What messages cost on a machine, by how far they go: what the model of schedules (model.hpp) needs to know.
// HOCKET_COSTS names a file of it, which `hocket loggp --costs` writes:
//
//   # level    startup_us  message_us  us_per_KiB  both_ways_us_per_KiB
//   node       0.6         0.2         0.05
//   leaf       20          5           86          103
//   switches   520         5           86          103
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hocket::tuning {

/// Of messages that go as far as a level, and of the links that lead there: below `node` the memory of a
/// node; for `leaf` the network card of each node; for each `switches` the uplink of each group of the level
/// before.
struct LevelCost {
  double startup_us = 0;   ///< until the first byte is there
  double message_us = 0;   ///< of CPU, for the sender and for the receiver
  double us_per_byte = 0;  ///< of the link, which all ranks of a group share, in each direction
  /// The same while as much comes as goes: over TCP acknowledgements wait behind data. Not less than above,
  /// and the same where a file does not say.
  double us_per_byte_both_ways = 0;
};

struct Costs {
  /// From the inside out: node, leaf, switches, ... What goes farther costs what the last one says.
  std::vector<LevelCost> levels;
  const LevelCost& at(std::size_t distance) const;
};

/// A cluster with a network of 100 Gbit/s, one switch of which has the bandwidth of four nodes to the others.
Costs usual_costs();
/// Of that file; the usual ones without a name. Throws Error.
Costs costs_from(const std::string& file);
/// `origin` names the text in errors. Throws Error.
Costs parse_costs(std::string_view text, std::string_view origin);

}  // namespace hocket::tuning
