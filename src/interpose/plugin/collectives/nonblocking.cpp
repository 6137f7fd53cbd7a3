// The non-blocking forms of the collectives: made of the MPI's own types of functions and of the descriptions
// that they have in common with the blocking forms.
#include "interpose/plugin/collectives/arguments.hpp"
#include "interpose/plugin/collectives/start.hpp"
#include "interpose/plugin/install.hpp"

namespace hocket::interpose {
namespace {

// A blocking form's arguments end in the communicator, these in the communicator and the request.
template <class Described, auto Member, class N,
          class Shape = std::remove_reference_t<decltype(std::declval<Counted<N>&>().*Member)>>
struct NonblockingForm;

template <class Described, auto Member, class N, class... A>
struct NonblockingForm<Described, Member, N, int (*)(A...)> {
  template <auto Native>
  static int call(A... arguments, MPI_Request* request) {
    const void* from = HOCKET_RETURN_ADDRESS;
    const auto native = [&] { return (host().started<N>().*Native)(arguments..., request); };
    return communicator_first(
        [&](MPI_Comm comm, auto... described) {
          return start<Described>(comm, request, from, native, described...);
        },
        arguments...);
  }
};

template <class Described, auto Member, auto Native, class N>
void install_form(void** own, hocket_call call) {
  if (host().started<N>().*Native)
    install(own, call, &NonblockingForm<Described, Member, N>::template call<Native>);
}

}  // namespace

// A large-count form that the MPI lacks stays missing: stage 0 withdraws it, and callers use the int form.
// What would be left to the MPI could not be narrowed, since its count arrays would have to outlive the call.
#define HOCKET_START(Name, Iname, Described)                                                             \
  install_form<Described<int>, &Counted<int>::Name, &Started<int>::Name, int>(own, HOCKET_CALL_##Iname); \
  install_form<Described<MPI_Count>, &Counted<MPI_Count>::Name, &Started<MPI_Count>::Name, MPI_Count>(   \
      own, HOCKET_CALL_##Iname##_c);

void install_nonblocking(void** own) {
  install_form<Barrier, &Counted<int>::Barrier, &Started<int>::Barrier, int>(own, HOCKET_CALL_Ibarrier);
  HOCKET_START(Bcast, Ibcast, Bcast)
  HOCKET_START(Reduce, Ireduce, Reduce)
  HOCKET_START(Allreduce, Iallreduce, Allreduce)
  HOCKET_START(Scan, Iscan, Scan)
  HOCKET_START(Exscan, Iexscan, Exscan)
  HOCKET_START(Reduce_scatter, Ireduce_scatter, ReduceScatter)
  HOCKET_START(Reduce_scatter_block, Ireduce_scatter_block, ReduceScatterBlock)
  HOCKET_START(Gather, Igather, Gather)
  HOCKET_START(Gatherv, Igatherv, Gatherv)
  HOCKET_START(Scatter, Iscatter, Scatter)
  HOCKET_START(Scatterv, Iscatterv, Scatterv)
  HOCKET_START(Allgather, Iallgather, Allgather)
  HOCKET_START(Allgatherv, Iallgatherv, Allgatherv)
  HOCKET_START(Alltoall, Ialltoall, Alltoall)
  HOCKET_START(Alltoallv, Ialltoallv, Alltoallv)
}

}  // namespace hocket::interpose
