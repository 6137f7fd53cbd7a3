#include "algorithms/describe.hpp"

#include <algorithm>

#include "algorithms/catalog.hpp"

namespace hocket::algorithms {
namespace {

std::string_view means(Access access) {
  switch (access) {
    case Access::one_sided:
      return "shared memory";
    case Access::in_network:
      return "switches that reduce";
    default:
      return "any transport";
  }
}

std::string needs(const Algorithm& row) {
  std::string text(means(row.access));
  if (row.single_copy) text += "; single copy";
  if (ir::is_reduction(row.collective)) text += row.order == Order::any ? "; commutative" : "; any operation";
  if (ir::is_blocks(row.collective)) {
    if (row.blocks == Blocks::known) text += "; sizes known to all";
    if (row.blocks == Blocks::equal) text += "; equal blocks";
  }
  if (row.fits) text += "; some numbers of ranks";
  if (!row.in_place) text += "; in-place by a copy";
  return text;
}

std::string parameters(const Algorithm& row) {
  std::string text;
  for (const Parameter& p : row.parameters) {
    if (!text.empty()) text += ", ";
    text += std::string(p.name) + "=" + std::to_string(p.preset) + " (" + std::to_string(p.least) + " to " +
            std::to_string(p.most) + ")";
  }
  return text;
}

/// The claim at 8 ranks, for the rank that does most.
std::string at_eight(const Algorithm& row, Property claim) {
  if (!claim) return "";
  Request request{.collective = row.collective, .ranks = 8, .parameters = presets(row)};
  if (!fits(row, request)) return "";
  std::uint32_t most = 0;
  for (ir::Rank rank = 0; rank < request.ranks; ++rank) most = std::max(most, claim(request.seen_by(rank)));
  return std::to_string(most);
}

std::string line(const Algorithm& row) {
  std::string text =
      "| `" + std::string(row.name) + "` | " + std::string(row.summary) + " | " + needs(row) + " | ";
  text += parameters(row) + " | " + at_eight(row, row.rounds) + " | " + at_eight(row, row.received) + " | ";
  Request request{.collective = row.collective, .ranks = 8, .parameters = presets(row)};
  if (!ir::is_blocks(row.collective) && row.collective != Collective::barrier)
    text += std::to_string(chunks_of(row, request));
  return text + " | " + std::string(row.source) + " |\n";
}

constexpr std::string_view introduction =
    R"(# Algorithms

This page is made from the catalog (src/algorithms/catalog.def); a test keeps the two together. Each row names the algorithm as
`HOCKET_FORCE`, rule files, reports and plots spell it.

*Rounds* are those in which a rank communicates, *received* counts the chunks that a rank takes from others: both are claims for
8 ranks, for the rank that does most, and tests compare them with the built schedules. The vector of bcast, reduce, allreduce,
scan and exscan is cut into *chunks*; elsewhere a chunk is one rank's block. Whether a message is cut into segments, and whether
nodes have leaders, is not part of an algorithm.
)";

constexpr std::string_view rules =
    R"(
## Recipes that follow the machine

Where ranks are on several nodes, words after the algorithm say how it follows the machine (`HOCKET_TOPOLOGY` names its description,
as `hocket topo` reads it; Slurm tells its own). Each of these is the same schedules, rewritten, and proved like them
(docs/design/0013-hierarchy.md). A recipe whose groups do not exist, because every rank is alone in its own or all are together, does not fit,
and the next rule decides.

| words | do |
|---|---|
| `ring by nodes` | inside each node with its leader, then the algorithm among the leaders, and back |
| `ring by leaves`, `by switches` | the same below the switches of the lowest level, or of every level; `by nodes+leaves` does both, level by level |
| `linear by leaves`, `linear by switches` | what Kandalla et al. 2010 call leaders of racks, and of chassis and racks: a leader below each leaf; and with more levels (chassis in racks, leaves in pods) one more below each switch above them, as far as there are several. `by leaves+switches` says the same |
| `linear by nodes(radix=4)` | trees of that width inside the groups. Without it trees of two for vectors, and all at once to or from the leader for blocks. Where two levels have the same groups, as `sockets` and `nodes` on nodes of one socket, a width for either counts; that of the inner one if there are two |
| `ring by nodes(slices)` | reduce and allreduce: rank i of a node folds the i-th slice of its ranks' vectors and hands it to their leader, in the place of a tree; the more ranks on a node, the more it saves its leader. With segments the slices of one are folded while others travel |
| `ring reordered` | ranks renumbered so that near ones are neighbours: a ring crosses each switch once. For operations that commute, and all that reduces nothing |
| `recursive_doubling by sockets+nodes` | ranks that are bound to the same socket first: for a small allreduce, the five phases up and down a node of several sockets |
| `ring by nodes with 4 leaders` | the vector cut into 4, each part with another leader of each node (DPML, Bayatpour et al. 2017); on leaves, with leaders on different nodes |
| `ring by leaves in 8 segments` | the vector cut into 8, the levels at work on different ones at the same time |
| `recursive_halving_doubling in 3 segments 2 apart` | each segment two rounds after the one before it (1 is preset): while one is between leaf switches, the next is inside of them |
| `cheapest(linear, linear by leaves)` | whichever costs least by the model (docs/design/0015-selection-between-nodes.md) on `HOCKET_COSTS` (`hocket loggp --costs`) |

```
HOCKET_FORCE='gather:linear by leaves, allreduce:cheapest(recursive_doubling by nodes+leaves, ring reordered)'
```

`hocket explain`, `plan` and `verify` take a machine in words, too; packages of its nodes are sockets there, each full of ranks in order:

```
hocket verify 'allreduce:ring by sockets+nodes' --ranks 64 --topology 'leaf:4 node:4 socket:2 core:8'
```

Not for scan and exscan. `gatherv` and `scatterv`, whose sizes not all ranks know, run flat or not at all. In an `alltoallv` by levels each rank's
sizes go to its leaders first, in one small message; blocks of more than 4 KiB, in large jobs less (1 KiB at least), bypass the leaders.

## Selection rules

A rule is a line: a collective, conditions, `->`, and what to do: a recipe, or `native`. The first rule that matches and whose algorithm can do the call
decides. A row that cannot is passed over: because the operation does not commute, because sizes are unknown or unequal, because
the number of ranks does not fit, because no switches reduce, or because the ranks cannot read each other's memory. When no rule is left the call goes to the MPI.

```
allreduce  bytes<=2K ranks<=64              -> flat
bcast      bytes>8K  ranks>2 oversubscribed -> knomial(radix=4)
alltoallv                                   -> pairwise
alltoall   bytes>1M                         -> native         # leave it to the MPI
```

| word | holds when |
|---|---|
| `allreduce`, `allgather`, ... | the call has that shape: `allgather` covers `MPI_Allgather` and `MPI_Allgatherv`, `reduce_scatter` covers `MPI_Reduce_scatter_block` too |
| `allgatherv`, `gatherv`, `scatterv`, `alltoallv`, `reduce_scatter_block` | the call is that function |
| `bytes<=N` `bytes<N` `bytes>=N` `bytes>N` | on the bytes that all ranks agree on: the vector, one block, or (allgatherv, reduce_scatter) all blocks together. N may end in K, M or G. Never holds where no size is known to all |
| `ranks<=N` `ranks<N` `ranks>=N` `ranks>N` | on the ranks of the communicator |
| `nodes<=N` `nodes<N` `nodes>=N` `nodes>N` | on the nodes that they are on, where that is known |
| `oversubscribed` | the node has more ranks than cores they may use |
| `commutative` | the reduction commutes |
| `single_copy` | the ranks of the communicator can read each other's memory, and it pays or, in some non-blocking and persistent calls, may pay (docs/design/0005-single-copy.md) |
| `across_nodes` | the ranks of the communicator are on several nodes (docs/design/0009-several-nodes.md): only rows that send and receive can run there |
| `in_network` | the network between the nodes reduces, and its switches take the call's type and operation (docs/design/0019-offload.md): what the rows `in_network` need, flat or among leaders |
| `streams` | with `in_network`: they take vectors of any length as one stream (`SHARP_COLL_ENABLE_SAT=1`), not only in pieces |
| `switches` | it is known under which switches the ranks are: several, and some ranks share one (`HOCKET_TOPOLOGY`, or Slurm says so) |
| `costs` | what messages cost is told (`HOCKET_COSTS`, which `hocket loggp` measures), not supposed |
| `interleaved` | ranks of one node, or under one switch, do not follow each other: `reordered` makes a difference |
| `blocking` | the call is neither non-blocking nor persistent |
| `background` | the call is non-blocking or persistent, and a thread goes on with its messages while the program computes (HOCKET_PROGRESS=thread across nodes), or a worker process does |
| `worker` | the call is non-blocking or persistent, and a worker process sends its messages (HOCKET_WORKERS). On one node what the rules do not give to messages is done by the ranks |
| `mapped` | what the ranks allocate is memory that this worker maps: `HOCKET_SHARED_HEAP=1`, and it is the only one of its node |
| `whole_node` | with `worker` and on one node: all ranks of the node are in the communicator, so that no other one of it calls the worker at the same time |
| `predefined` | the reduction is by one of MPI's own operations |
| `unequal` | the function lets blocks differ: a v-form, or `MPI_Reduce_scatter` |
| `unknown` | not all ranks know the sizes: gatherv, scatterv, alltoallv |
| `!word` | the word does not hold |
| `# ...` | a remark, to the end of the line |

`HOCKET_RULES=file` puts the rules of a file before the built-in ones (src/tuning/default.rules).
`HOCKET_FORCE=allreduce:ring,bcast:knomial(radix=4)` puts rules without conditions before those; where a forced algorithm cannot
do a call, the next rule decides and the report says why. `HOCKET_DISABLE=allreduce,alltoallv` leaves functions to the MPI.
Unknown names are errors.
)";

}  // namespace

std::string markdown() {
  std::string text(introduction);
  const Algorithm* previous = nullptr;
  for (const Algorithm& row : catalog()) {
    if (!previous || previous->collective != row.collective) {
      text += "\n## " + std::string(ir::name_of(row.collective)) + "\n\n";
      text +=
          "| algorithm | how | needs | parameters | rounds | received | chunks | source "
          "|\n|---|---|---|---|---|---|---|---|\n";
    }
    text += line(row);
    previous = &row;
  }
  return text + std::string(rules);
}

}  // namespace hocket::algorithms
