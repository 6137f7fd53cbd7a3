// Every row of the catalog that consists of messages, flat and as if there were nodes, with random calls of
// the four ranks of one.
#pragma once

#include <gtest/gtest.h>

#include <memory_resource>
#include <string>

#include "harness/seed.hpp"
#include "node_calls.hpp"

namespace hocket::worker {

/// Starts it on all ranks, and returns what is wrong.
inline std::string outcome(Node& node, const NodeCall& call, const Algorithm& row, std::string_view recipe,
                           std::uint32_t number) {
  for (ir::Rank rank = 0; rank < node.ranks(); ++rank) {
    node.tell(rank, call.define(rank, row, number, 1, recipe));
    node.tell(rank, engine::handover::Start{number, 0, number});
  }
  node.settle();
  std::string wrong;
  for (ir::Rank rank = 0; rank < node.ranks(); ++rank) {
    if (!node.is_served(rank)) wrong += "rank " + std::to_string(rank) + ": " + node.refusal(rank) + "; ";
    if (node.status(rank, 0) != Status::ok)
      wrong += "status " + std::to_string(static_cast<int>(node.status(rank, 0))) + "; ";
    wrong += call.data(rank).check();
    node.clear(rank, 0);
  }
  return wrong;
}

struct RowCalls {
  std::size_t most_elements = 300;
  int of_a_function = 6;
  std::size_t least_bytes = 0;  ///< of the vector or block, where all ranks know it
};

/// Sizes are drawn until they are long enough.
inline NodeCall drawn_call(std::mt19937_64& random, const Node& node, Function function,
                           const RowCalls& calls, std::pmr::memory_resource* memory) {
  for (;;) {
    NodeCall call(random, node.ranks(), function, calls.most_elements, memory);
    const bool is_told = engine::sizes_known(function) && function != Function::barrier;
    if (!is_told || call.data(0).call().agreed_bytes >= calls.least_bytes) return call;
  }
}

/// With buffers there.
inline void expect_every_row_is_carried_out(Node& node, std::pmr::memory_resource* memory,
                                            const RowCalls& calls = {}) {
  const std::uint64_t seed = harness::test_seed();
  SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const passes::GroupNumbers nodes{0, 1, 0, 1};
  const passes::Neighbourhood near({nodes});
  open(node, 1, 5, {0, 1, 2, 3}, nodes);
  std::uint32_t number = 1;
  for (const Function function : harness::all_functions())
    for (int repetition = 0; repetition < calls.of_a_function; ++repetition) {
      const NodeCall shape = drawn_call(random, node, function, calls, std::pmr::get_default_resource());
      for (const Algorithm* row : shape.rows())
        for (const std::string& recipe : shape.recipes(*row, near)) {
          const NodeCall call = drawn_call(random, node, function, calls, memory);
          if (!std::ranges::count(call.rows(), row)) continue;
          EXPECT_EQ(outcome(node, call, *row, recipe, ++number), "")
              << ir::name_of(row->collective) << ":" << recipe << " function " << static_cast<int>(function);
          for (ir::Rank rank = 0; rank < node.ranks(); ++rank)
            node.tell(rank, engine::handover::Forget{number});
        }
    }
  EXPECT_GT(number, 50U);
}

}  // namespace hocket::worker
