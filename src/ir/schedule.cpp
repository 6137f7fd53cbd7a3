#include "ir/schedule.hpp"

namespace hocket::ir {

namespace {

constexpr Window nothing{0, 0, 1};

Window all(std::uint32_t chunks) {
  return {0, chunks, 1};
}
Window own(Rank rank) {
  return {static_cast<std::uint32_t>(rank), 1, 1};
}

}  // namespace

Collective kind_of(const Schedule& schedule, const Op& aggregate) {
  const bool contributes = aggregate.regions > 0, wants = aggregate.target.count > 0;
  if (aggregate.peer == everyone) return contributes ? Collective::allreduce : Collective::barrier;
  const bool reduces = aggregate.peer == schedule.rank ? wants : contributes;
  return reduces ? Collective::reduce : Collective::bcast;
}

Window input_window(Collective c, Rank, Rank rank, Rank root, std::uint32_t chunks) {
  switch (c) {
    case Collective::barrier:
      return nothing;
    case Collective::bcast:
    case Collective::scatter:
      return rank == root ? all(chunks) : nothing;
    case Collective::gather:
    case Collective::allgather:
      return own(rank);
    default:
      return all(chunks);
  }
}

Window output_window(Collective c, Rank, Rank rank, Rank root, std::uint32_t chunks) {
  switch (c) {
    case Collective::barrier:
      return nothing;
    case Collective::reduce:
    case Collective::gather:
      return rank == root ? all(chunks) : nothing;
    case Collective::scatter:
    case Collective::reduce_scatter:
      return own(rank);
    case Collective::exscan:  // MPI leaves rank 0's buffer alone
      return rank == 0 ? nothing : all(chunks);
    default:
      return all(chunks);
  }
}

}  // namespace hocket::ir
