// One round out of several that happen at the same time: all that goes to a rank, or comes from it, is one
// message. Aggregations stay what they are, each of one piece.
#pragma once

#include <vector>

#include "ir/schedule.hpp"

namespace hocket::passes {

inline bool is_transfer(const ir::Op& op) {
  return op.code == ir::OpCode::send || op.code == ir::OpCode::recv;
}

inline bool is_of_aggregation(const ir::Op& op) {
  return op.code == ir::OpCode::aggregate || op.code == ir::OpCode::settle;
}

/// Writes to a place of its own.
inline bool has_target(const ir::Op& op) {
  return !is_transfer(op) && op.code != ir::OpCode::settle && op.target.count > 0;
}

class FusedRound {
 public:
  void add(const ir::Op& op, std::vector<ir::Region> regions);
  /// Ends the round, and begins another.
  void append_to(ir::Schedule& schedule);

 private:
  struct Part {
    ir::Op op;
    std::vector<ir::Region> regions;
  };

  std::vector<Part>::iterator find(const ir::Op& op);
  void fuse(std::vector<Part>::iterator part, std::vector<ir::Region> regions);

  std::vector<Part> parts_;
};

}  // namespace hocket::passes
