// Blocking collectives that Hocket never runs: they leave their mark, so that a rank waiting for this one can
// say where it is.
#include <tuple>
#include <utility>

#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/install.hpp"

namespace hocket::interpose {
namespace {

void mark(MPI_Comm comm, Function function, const void* return_address) noexcept {
  try {
    if (Communicator* c = enter(comm, function, return_address))
      leave_to_mpi(*c, function, "not a collective that Hocket runs");
  } catch (
      const std::exception&) {  // it could not be opened, not worth an error: the MPI runs these on all ranks
  }
}

// One wrapper for each MPI function, made of its own type; the communicator is its last argument.
template <auto Member, Function function, class N,
          class Shape = std::remove_reference_t<decltype(std::declval<Counted<N>&>().*Member)>>
struct Marked;

template <auto Member, Function function, class N, class... A>
struct Marked<Member, function, N, int (*)(A...)> {
  static int call(A... arguments) {
    mark(std::get<sizeof...(A) - 1>(std::tie(arguments...)), function, HOCKET_RETURN_ADDRESS);
    return (host().counted<N>().*Member)(arguments...);
  }
};

// A large-count form that the MPI lacks stays missing: stage 0 withdraws it, and callers use the int form.
template <auto Small, auto Large, Function function>
void install_both(void** own, hocket_call small, hocket_call large) {
  install(own, small, &Marked<Small, function, int>::call);
  if (host().large.*Large) install(own, large, &Marked<Large, function, MPI_Count>::call);
}

}  // namespace

#define HOCKET_MARK(Name, function)                                                                         \
  install_both<&Counted<int>::Name, &Counted<MPI_Count>::Name, Function::function>(own, HOCKET_CALL_##Name, \
                                                                                   HOCKET_CALL_##Name##_c);

void install_marked(void** own) {
  HOCKET_MARK(Alltoallw, alltoallw)
  HOCKET_MARK(Neighbor_allgather, neighbor)
  HOCKET_MARK(Neighbor_allgatherv, neighbor)
  HOCKET_MARK(Neighbor_alltoall, neighbor)
  HOCKET_MARK(Neighbor_alltoallv, neighbor)
  HOCKET_MARK(Neighbor_alltoallw, neighbor)
}

}  // namespace hocket::interpose
