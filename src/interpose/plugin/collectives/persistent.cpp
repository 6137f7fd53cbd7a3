// The persistent forms of the collectives: MPI_X_init describes the call and decides what runs it, MPI_Start
// packs the data and starts it.
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "interpose/plugin/collectives/arguments.hpp"
#include "interpose/plugin/collectives/descriptions.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/start.hpp"
#include "interpose/plugin/install.hpp"
#include "interpose/plugin/requests/own_requests.hpp"
#include "interpose/plugin/requests/persistent_request.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {
namespace {

std::unique_ptr<engine::Prepared> prepare(Communicator& c, const Call& call) {
  const std::lock_guard lock(progress_lock);
  return c.engine->prepare_persistent(call);
}

template <class Described, class Native, class... A>
int make_ours(Communicator& c, MPI_Request* handle, Native native, A... arguments) {
  auto request = std::make_unique<PersistentRequest>();
  Described& described = request->hold<Described>(c);
  if (!described.describe(arguments...) || !can_progress(c, described.call())) return native();
  auto prepared = prepare(c, described.call());
  if (!prepared) return raise_error(c.handle, c.engine->error());
  if (prepared->is_native()) {
    if (prepared->path.row) prepared->path.row->count(described.call().agreed_bytes);
    return native();
  }
  request->keep(described, std::move(prepared));
  const PersistentRequest& kept = *request;
  if (const int code = give_token(std::move(request), c); code != MPI_SUCCESS) return code;
  *handle = kept.token();
  return MPI_SUCCESS;
}

/// Making one may wait for others, unlike starting a non-blocking one: the communicator's first call may open
/// it.
template <class Described, class Native, class... A>
int make(MPI_Comm comm, MPI_Request* request, const void* return_address, Native native, A... arguments) try {
  Communicator* c = request ? enter(comm, Described::function, return_address) : nullptr;
  return c ? make_ours<Described>(*c, request, native, arguments...) : native();
}
HOCKET_EDGE(engine::Called(Described::function, engine::Form::persistent))

// A blocking form's arguments end in the communicator; here hints and the request follow.
template <class Described, auto Member, class N,
          class Shape = std::remove_reference_t<decltype(std::declval<Counted<N>&>().*Member)>>
struct PersistentForm;

template <class Described, auto Member, class N, class... A>
struct PersistentForm<Described, Member, N, int (*)(A...)> {
  template <auto Native>
  static int call(A... arguments, MPI_Info info, MPI_Request* request) {
    const void* from = HOCKET_RETURN_ADDRESS;
    const auto native = [&] { return (host().kept<N>().*Native)(arguments..., info, request); };
    return communicator_first(
        [&](MPI_Comm comm, auto... described) {
          return make<Described>(comm, request, from, native, described...);
        },
        arguments...);
  }
};

// Under the name that the MPI has it by; under the others it stays missing.
template <class Described, auto Member, auto Native, class N>
void install_form(void** own, hocket_call call, const char* name) {
  if (host_symbol(name)) install(own, call, &PersistentForm<Described, Member, N>::template call<Native>);
}

int start_one(MPI_Request* handle) {
  Request* own = handle ? find_own(*handle) : nullptr;
  return own ? own->activate() : host().Start(handle);
}

bool includes_ours(int count, const MPI_Request* requests) {
  for (int i = 0; requests && i < count; ++i)
    if (find_own(requests[i])) return true;
  return false;
}

// In the array's order, which may matter to the MPI's own too.
int start_all(int count, MPI_Request* requests) {
  if (!includes_ours(count, requests)) return host().Startall(count, requests);
  int code = MPI_SUCCESS;
  for (int i = 0; i < count && code == MPI_SUCCESS; ++i) code = start_one(&requests[i]);
  return code;
}

int request_free(MPI_Request* request) {
  Request* own = request ? find_own(*request) : nullptr;
  const int code = own ? own->forget(request) : host().Request_free(request);
  if (is_anything_under_way()) go_on_without_waits();
  return code;
}

}  // namespace

#define HOCKET_PERSISTENT(Name, Described)                                                                   \
  install_form<Described<int>, &Counted<int>::Name, &Kept<int>::Name, int>(own, HOCKET_CALL_##Name##_init,   \
                                                                           "PMPI_" #Name "_init");           \
  install_form<Described<int>, &Counted<int>::Name, &Kept<int>::Name, int>(own, HOCKET_CALL_X_##Name##_init, \
                                                                           "PMPIX_" #Name "_init");          \
  install_form<Described<MPI_Count>, &Counted<MPI_Count>::Name, &Kept<MPI_Count>::Name, MPI_Count>(          \
      own, HOCKET_CALL_##Name##_init_c, "PMPI_" #Name "_init_c");

void install_persistent(void** own) {
  install_form<Barrier, &Counted<int>::Barrier, &Kept<int>::Barrier, int>(own, HOCKET_CALL_Barrier_init,
                                                                          "PMPI_Barrier_init");
  install_form<Barrier, &Counted<int>::Barrier, &Kept<int>::Barrier, int>(own, HOCKET_CALL_X_Barrier_init,
                                                                          "PMPIX_Barrier_init");
  HOCKET_PERSISTENT(Bcast, Bcast)
  HOCKET_PERSISTENT(Reduce, Reduce)
  HOCKET_PERSISTENT(Allreduce, Allreduce)
  HOCKET_PERSISTENT(Scan, Scan)
  HOCKET_PERSISTENT(Exscan, Exscan)
  HOCKET_PERSISTENT(Reduce_scatter, ReduceScatter)
  HOCKET_PERSISTENT(Reduce_scatter_block, ReduceScatterBlock)
  HOCKET_PERSISTENT(Gather, Gather)
  HOCKET_PERSISTENT(Gatherv, Gatherv)
  HOCKET_PERSISTENT(Scatter, Scatter)
  HOCKET_PERSISTENT(Scatterv, Scatterv)
  HOCKET_PERSISTENT(Allgather, Allgather)
  HOCKET_PERSISTENT(Allgatherv, Allgatherv)
  HOCKET_PERSISTENT(Alltoall, Alltoall)
  HOCKET_PERSISTENT(Alltoallv, Alltoallv)
  install(own, HOCKET_CALL_Start, &start_one);
  install(own, HOCKET_CALL_Startall, &start_all);
  install(own, HOCKET_CALL_Request_free, &request_free);
}

}  // namespace hocket::interpose
