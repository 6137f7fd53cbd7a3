// Selection as data. A rule is a line of text; the first one that matches decides, and its text is the
// explanation.
//
//   allreduce  bytes<=2K ranks<=64             -> flat
//   bcast      bytes>8K  ranks>2 oversubscribed -> knomial(radix=2)
//   gather     across_nodes                     -> cheapest(linear, linear by leaves)
//   alltoall   bytes>1M                         -> native
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/recipe.hpp"
#include "tuning/model.hpp"

namespace hocket::tuning {

/// All that a decision may depend on: known to all ranks alike.
struct Situation {
  ir::Collective collective = ir::Collective::barrier;
  ir::Rank ranks = 1;
  std::size_t bytes = 0;     ///< agreed bytes: vector, block, or (allgatherv, reduce_scatter) sum of blocks
  bool sizes_known = true;   ///< false: gatherv, scatterv, alltoallv
  bool equal_blocks = true;  ///< false for the v-forms and MPI_Reduce_scatter, whatever their counts
  bool commutative = true;
  bool predefined = true;       ///< reduction by a predefined operation
  bool oversubscribed = false;  ///< more ranks on the node than cores they may use; agreed at set-up
  bool across_nodes = false;    ///< the ranks are on several nodes
  const passes::Neighbourhood* near = nullptr;  ///< who is under which switch; null: nothing is known
  const Model* model = nullptr;                 ///< of their schedules; null: the first that fits is cheapest
  bool costs_told = false;                      ///< what messages cost was told to the model, not supposed
  bool blocking = true;                         ///< whoever calls stays until it has ended
  bool background = false;  ///< non-blocking, and a thread goes on with it while the program computes
  bool worker = false;      ///< that is not a thread, but a worker process
  bool mapped = false;      ///< which maps what ranks allocate; agreed at set-up
  bool whole_node = false;  ///< the ranks are all of one node's; asked of calls for its worker
  bool in_network =
      false;  ///< between the nodes switches reduce, and take the call's type and operation; agreed
  bool streams = false;      ///< in any length at once, not only in pieces of an operation; agreed
  bool single_copy = false;  ///< the ranks can read each other's memory, and it pays; agreed on the way
};

struct Choice {
  passes::Recipe recipe;  ///< without an algorithm: leave it to the MPI
  bool built_in = false;  ///< by the table that Hocket brings, not by the wish of the user
  // These live as long as the Rules.
  std::string_view name = "native";  ///< of the algorithm, and what it follows: "ring by nodes"
  std::string_view text = "native";  ///< the recipe's own
  std::string_view reason;           ///< the rule's text, or why a forced algorithm did not fit

  bool is_native() const { return recipe.is_native(); }
};

/// One of the recipes that a rule chooses from.
struct Considered {
  std::string_view text;  ///< the recipe, with its parameters
  bool fits = true;
  std::optional<double> predicted_us;  ///< nothing where the model cannot tell
};

class Rules {
 public:
  /// In order: `disable` ("allreduce,alltoallv": left to the MPI), `force` ("allreduce:ring,..."), the rules
  /// of the file of that name if it is not empty, the built-in ones (default.rules). Throws Error for
  /// anything unknown, with line and word.
  Rules(std::string_view disable, std::string_view force, std::string_view file);
  Rules() : Rules("", "", "") {}
  Rules(Rules&&) noexcept;
  Rules& operator=(Rules&&) noexcept;
  ~Rules();

  /// May allocate (what is found out about groups is kept).
  Choice choose(const Situation& situation) const;
  /// What choose() has chosen from: nothing if no rule fits.
  std::vector<Considered> considered(const Situation& situation) const;
  /// All rules in order, for `hocket explain`.
  std::vector<std::string_view> texts() const;

  struct Rule;

 private:
  std::vector<Rule> rules_;
  std::size_t first_built_in_ = 0;
};

}  // namespace hocket::tuning
