// An aggregation that the network has not done for all members, done over messages.
//
// Whoever had its result may have handed it on, so where anybody has, that result is everybody's: another
// order of additions might differ in its last bits.
#pragma once

#include <cstddef>

#include "engine/aggregation/agreement.hpp"
#include "executors/aggregator.hpp"

namespace hocket::engine::aggregation {

class Repair {
 public:
  /// `root`: of reduce and bcast, among the members. Null: nothing is left to do. Else what has to run to its
  /// end, on all members. Throws std::bad_alloc.
  executors::Machine* lay(MemberRuns& members, const executors::Aggregation& what, Rank root,
                          const Agreement& told, std::size_t aggregation);

 private:
  executors::Machine* allreduce(MemberRuns& members, const executors::Aggregation& what,
                                const Agreement& told, std::size_t aggregation);
  executors::Machine* bcast(MemberRuns& members, Rank root, void* data);

  executors::Operation operation_;
};

}  // namespace hocket::engine::aggregation
