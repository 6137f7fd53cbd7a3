// What is run for a call: a row of the catalog with its parameters, and how it follows the machine. Rules,
// HOCKET_FORCE and the command line write it as text (tuning/parse.hpp):
//
//   ring                                    flat
//   knomial(segments=8) by nodes+leaves     inside nodes, inside leaf switches, then among their leaders
//   linear by leaves(radix=4)               trees of width 4 below leaf switches
//   ring by leaves in 8 segments            the levels work at the same time, each on another segment
//   ring in 3 segments 2 apart              a segment follows two rounds after the one before it
//   in_network by nodes(slices)             everybody folds a slice for its node's leader
//   in_network by nodes                     inside nodes; the network between their leaders
//   ring by nodes with 4 leaders            four parts of the vector, each with another leader of each node
//   ring reordered                          ranks renumbered so that near ones are neighbours
#pragma once

#include <functional>

#include "algorithms/catalog.hpp"
#include "passes/levels.hpp"
#include "passes/neighbourhood.hpp"

namespace hocket::passes {

struct Recipe {
  const algorithms::Algorithm* algorithm =
      nullptr;  ///< of all ranks, or of the outermost leaders; null: native
  ir::Parameters parameters{};
  By by;
  bool reordered = false;
  std::uint32_t segments = 1;  ///< of a vector; more than the row's own parameter `segments`
  std::uint32_t apart = 1;     ///< rounds between a segment and the next
  std::uint32_t leaders = 1;   ///< of each group, each for a part of a vector
  bool operator==(const Recipe&) const = default;

  bool is_native() const { return !algorithm; }
  bool is_flat() const { return by.empty() && !reordered && segments == 1 && leaders == 1; }
};

/// The row as it is preset, for all ranks alike.
Recipe plain(const algorithms::Algorithm& algorithm);

/// Why a recipe cannot be followed by these ranks.
enum class Misfit : std::uint8_t {
  none,
  ranks,   ///< the algorithm does not fit their number, or that of the leaders
  groups,  ///< they are not in such groups
  equal,   ///< they are in groups of different sizes, and the algorithm needs equal ones
  order,   ///< an operation that does not commute, and groups that are not runs of ranks, or another order
};

/// `near`: null where nothing is known of the machine. The request's parameters do not count.
Misfit misfit(const Recipe& recipe, const ir::Request& request, const Neighbourhood* near);

/// One rank's schedule. Throws Error where there is a misfit, or a row cannot be a part of a hierarchy.
ir::Schedule build(const Recipe& recipe, const ir::Request& request, const Neighbourhood* near);

/// Segments, and several leaders: the schedules of all ranks are placed on one clock, on every rank.
bool needs_all_ranks(const Recipe& recipe);
/// The ops of all ranks' schedules together and the regions they touch, uncut, of a recipe that fits;
/// counting ends beyond `most`.
std::size_t size_of_all(const Recipe& recipe, const ir::Request& request, const Neighbourhood* near,
                        std::size_t most);
/// Into so many pieces is every schedule cut.
std::uint32_t segments_of(const Recipe& recipe);

/// What an alltoall whose blocks differ has beside its schedule, if that follows a hierarchy: the sizes of
/// all blocks of the ranks that a leader speaks for have to be known before; and blocks that are large go
/// straight to where they belong.
struct Ahead {
  ir::Schedule gather;  ///< of one block of sizes from every rank; see gather_in_groups()
  std::vector<Rank>
      group;            ///< all ranks under the same outermost leader, in order: a plane each way for each
  ir::Schedule direct;  ///< of all blocks, without leaders
  bool leads;           ///< this rank the whole group
  Rank largest_group;   ///< ranks of any outermost leader: the same on all
};

/// One rank's. Throws as build() does.
Ahead build_ahead(const Recipe& recipe, const ir::Request& request, const Neighbourhood* near);

/// All ranks', in order.
std::vector<ir::Schedule> build_all(const Recipe& recipe, const ir::Request& request,
                                    const Neighbourhood* near);

}  // namespace hocket::passes
