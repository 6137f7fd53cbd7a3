#include "engine/aggregation/repair.hpp"

namespace hocket::engine::aggregation {

using executors::Aggregation;
using executors::Machine;
using ir::Collective;

namespace {
/// From here on bytes count, not rounds.
constexpr std::size_t long_bytes = 32768;
}  // namespace

Machine* Repair::lay(MemberRuns& members, const Aggregation& what, Rank root, const Agreement& told,
                     std::size_t aggregation) {
  operation_ = {};
  operation_.collective = what.kind;
  operation_.root = std::max(root, Rank{0});
  operation_.input = what.source;
  operation_.output = what.target;
  operation_.agreed_bytes = operation_.own_bytes = what.bytes;
  if (what.reduction) operation_.reduction = *what.reduction;
  switch (what.kind) {
    case Collective::allreduce:
      return allreduce(members, what, told, aggregation);
    case Collective::reduce:
      return told.has_ended(root, aggregation) ? nullptr : &members.lay("knomial", operation_);
    case Collective::bcast:
      if (told.has_ended_everywhere(aggregation)) return nullptr;
      return bcast(members, root, what.target ? what.target : const_cast<std::byte*>(what.source));
    default:  // a barrier that one has left is one that all have entered
      return told.first_with(aggregation) ? nullptr : &members.lay("message_dissemination", operation_);
  }
}

Machine* Repair::allreduce(MemberRuns& members, const Aggregation& what, const Agreement& told,
                           std::size_t aggregation) {
  if (told.has_ended_everywhere(aggregation)) return nullptr;
  if (const auto first = told.first_with(aggregation)) return bcast(members, *first, what.target);
  return &members.lay(what.bytes < long_bytes ? "recursive_doubling" : "ring", operation_);
}

Machine* Repair::bcast(MemberRuns& members, Rank root, void* data) {
  operation_.collective = Collective::bcast;
  operation_.root = root;
  operation_.input = operation_.output = data;
  operation_.in_place = true;
  return &members.lay("knomial", operation_);
}

}  // namespace hocket::engine::aggregation
