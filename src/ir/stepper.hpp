// Steps all ranks of a program until they end, with the strictest timing that the IR allows: a send completes
// only when both sides have come to the end of its round, where nothing else is left to do; a
// settle, when all members have come to the end of the round in which they start the aggregation. What an op
// means is left to the Actions: symbols for the verifier, bytes for the interpreter.
#pragma once

#include "ir/program.hpp"

namespace hocket::ir {

class Actions {
 public:
  virtual ~Actions() = default;
  virtual void local(Place place, const Op& op) = 0;  ///< copy, read, reduce, expose
  virtual void signal(Place place, const Op& op) = 0;
  virtual void waited(Place place, Rank peer, std::uint32_t step) = 0;  ///< once per peer waited for
  virtual void post_send(Place place, const Op& op, MessageId message) = 0;
  virtual void post_recv(Place place, const Op& op, MessageId message) = 0;
  virtual void complete_send(Place place, const Op& op, MessageId message) = 0;
  virtual void complete_recv(Place place, const Op& op, MessageId message) = 0;
  virtual void start(Place place, const Op& op, AggregationId aggregation) = 0;
  virtual void settle(Place start, const Op& op,
                      AggregationId aggregation) = 0;  ///< of the aggregate at `start`
};

/// Throws hocket::Error when the ranks deadlock, naming what they wait for. `interleaving` 0 lets every rank
/// run as far as it can in turn; any other number is the seed of a random interleaving.
void run(const Program& program, Actions& actions, std::uint64_t interleaving = 0);

}  // namespace hocket::ir
