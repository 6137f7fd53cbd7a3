#include "passes/hierarchy.hpp"

#include <string>

#include "base/error.hpp"
#include "passes/hierarchy/composer.hpp"

namespace hocket::passes {
namespace {

using ir::Collective;
using Compose = void (*)(Composer&);

Compose compose_of(Collective collective) {
  switch (collective) {
    case Collective::barrier:
      return compose_barrier;
    case Collective::bcast:
      return compose_bcast;
    case Collective::reduce:
      return compose_reduce;
    case Collective::allreduce:
      return compose_allreduce;
    case Collective::gather:
      return compose_gather;
    case Collective::scatter:
      return compose_scatter;
    case Collective::allgather:
      return compose_allgather;
    case Collective::alltoall:
      return compose_alltoall;
    case Collective::reduce_scatter:
      return compose_reduce_scatter;
    default:  // scan, exscan: a prefix ends inside of a group
      return nullptr;
  }
}

}  // namespace

bool has_hierarchy(Collective collective) {
  return compose_of(collective) != nullptr;
}

ir::Schedule hierarchy(const ir::Request& request, const Groups& groups, const Parts& parts,
                       std::uint32_t turn) {
  const Compose compose = compose_of(request.collective);
  if (!compose) throw Error("no hierarchy for " + std::string(ir::name_of(request.collective)));
  if (groups.ranks() != request.ranks) throw Error("groups of other ranks than the request's");
  if (!request.commutative && !groups.are_runs())
    throw Error("an operation that does not commute needs groups of consecutive ranks");
  Composer whole(request, groups, parts, turn);
  compose(whole);
  return whole.finish();
}

ir::Schedule gather_in_groups(const ir::Request& request, const Groups& groups, const Parts& parts) {
  ir::Request gather = request;
  gather.collective = Collective::gather;
  gather.root = 0;  // leads its groups as the lowest rank anyway
  Composer whole(gather, groups, parts, 0);
  compose_gather_in_groups(whole);
  return whole.finish();
}

}  // namespace hocket::passes
