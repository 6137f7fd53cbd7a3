// What a process has beside the MPI for messages to ranks of its own node, in communicators over several:
// mailboxes for short ones, and for long ones memory that both map, or reads of the sender's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/arena.hpp"
#include "engine/report.hpp"
#include "engine/slot_part.hpp"
#include "transports/mpi/network.hpp"

namespace hocket::engine {

class NodeMessages {
 public:
  /// `mates`: world ranks of the node with this number, in ascending order; `self` is one of them.
  NodeMessages(Arena& arena, Rank node, std::vector<Rank> mates, Rank self);

  /// Before the first message, on all of them: what there is memory for. `cma`: HOCKET_CMA.
  void open(transports::mpi::Network& network, const std::string& cma);

 private:
  std::unique_ptr<transports::mpi::Loans> loans(const std::string& cma, std::size_t least_bytes) const;

  Arena& arena_;
  const std::vector<Rank> mates_;
  const Rank self_;
  SlotPart mail_;
  SlotPart stages_;
};

/// How long messages of ranks of this node came, where not by the MPI alone.
void note_node_messages(const transports::mpi::Network::FromMates& counts, Report& report) noexcept;

}  // namespace hocket::engine
