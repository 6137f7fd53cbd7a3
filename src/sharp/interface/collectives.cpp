// sharp_coll.h: collectives, blocking and not.
#include "sharp/collectives.hpp"

#include "sharp/interface/edge.hpp"
#include "sharp/waiting.hpp"

using namespace hocket::sharp;

namespace {

int post(Communicator& communicator, RequestPointer& request) {
  Context& context = communicator.context();
  context.suffer_faults(communicator);
  const auto lock = context.guard();
  return communicator.post(request);
}

/// `make` makes the request of a communicator.
template <class Make>
int start(const char* function, sharp_coll_comm* comm, void** handle, Make make) noexcept {
  return at_edge(function, comm && communicator_of(comm).context().hides_errors(), [&] {
    void*& posted = given(handle);
    Communicator& communicator = communicator_of(comm);
    RequestPointer request = make(communicator);
    Request* const started = request.get();
    if (const int error = post(communicator, request); error != SHARP_COLL_SUCCESS)
      throw Refusal(static_cast<sharp_error_no>(error), "the communicator has failed before");
    posted = started;
    return SHARP_COLL_SUCCESS;
  });
}

template <class Make>
int run(const char* function, sharp_coll_comm* comm, Make make) noexcept {
  void* handle = nullptr;
  const int error = start(function, comm, &handle, make);
  return error == SHARP_COLL_SUCCESS ? sharp_coll_req_wait(handle) : error;
}

}  // namespace

/// A collective of a spec, both ways.
#define SHARP_COLLECTIVE(name, maker, kind)                                                           \
  int sharp_coll_do_##name(sharp_coll_comm* comm, kind* spec) {                                       \
    return run("sharp_coll_do_" #name, comm, [&](Communicator& c) { return maker(c, given(spec)); }); \
  }                                                                                                   \
  int sharp_coll_do_##name##_nb(sharp_coll_comm* comm, kind* spec, void** handle) {                   \
    return start("sharp_coll_do_" #name "_nb", comm, handle,                                          \
                 [&](Communicator& c) { return maker(c, given(spec)); });                             \
  }

extern "C" {

int sharp_coll_do_barrier(sharp_coll_comm* comm) {
  return run("sharp_coll_do_barrier", comm, [](Communicator&) { return barrier(); });
}

int sharp_coll_do_barrier_nb(sharp_coll_comm* comm, void** handle) {
  return start("sharp_coll_do_barrier_nb", comm, handle, [](Communicator&) { return barrier(); });
}

SHARP_COLLECTIVE(allreduce, allreduce, sharp_coll_reduce_spec)
SHARP_COLLECTIVE(reduce, reduce, sharp_coll_reduce_spec)
SHARP_COLLECTIVE(reduce_scatter, reduce_scatter, sharp_coll_reduce_spec)
SHARP_COLLECTIVE(allgather, allgather, sharp_coll_gather_spec)
SHARP_COLLECTIVE(bcast, broadcast, sharp_coll_bcast_spec)

}  // extern "C"
