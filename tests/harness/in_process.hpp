// Ranks as threads of one process: the engine as it is, over an arena in plain memory. What sanitizers can
// see.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "engine/communicator.hpp"
#include "engine/engine.hpp"
#include "transports/fake/wire.hpp"

namespace hocket::harness {

/// The memory that the "processes" share.
class InProcessNode;

using Port = std::unique_ptr<transports::mpi::Port>;

struct Ranks {
  int ranks = 2;
  Options options;
  engine::Host host = {};
  std::size_t budget_bytes = std::size_t{1} << 30U;  ///< what carve() may hand out
  bool one_core = false;                             ///< report fewer cores than ranks
  /// Between nodes, of which each has so many ranks.
  std::optional<transports::fake::WireSettings> network;
  int ranks_per_node = 1;
  /// What a rank sees of it, instead of the port itself.
  std::function<Port(Port)> port = [](Port own) { return own; };
};

/// One, or two where that leaves more than one node: by the test's seed.
int some_ranks_per_node(int ranks);

using Body =
    std::function<void(engine::Rank rank, engine::Communicator& communicator, engine::Engine& engine)>;

/// Runs `body` once per rank, each in its own thread with its own engine. Throws what a body throws.
void run_ranks(const Ranks& ranks, const Body& body);

}  // namespace hocket::harness
