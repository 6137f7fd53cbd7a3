// Blocking point-to-point calls of MPIs that let nobody take part in their progress: while something of
// Hocket's is under way, they are started, and waited for as everything is then. So a program may receive
// between the start of a collective and its wait, whoever has to go on with the collective meanwhile.
#include <string>
#include <utility>

#include "interpose/plugin/host.hpp"
#include "interpose/plugin/install.hpp"
#include "interpose/plugin/process.hpp"
#include "interpose/plugin/requests/completion.hpp"
#include "interpose/plugin/requests/hooks.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {
namespace {

/// One blocking function and the non-blocking one that does the same.
template <class N>
struct Functions {
  using Send = int(const void*, N, MPI_Datatype, int, int, MPI_Comm);
  using Receive = int(void*, N, MPI_Datatype, int, int, MPI_Comm);
  template <class Function>
  using Start = typename Nonblocking<Function>::type;

  Send *send, *ssend, *rsend;
  Start<Send> isend, issend, irsend;
  int (*recv)(void*, N, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
  Start<Receive> irecv;
  int (*sendrecv)(const void*, N, MPI_Datatype, int, int, void*, N, MPI_Datatype, int, int, MPI_Comm,
                  MPI_Status*);
  int (*sendrecv_replace)(void*, N, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Status*);
  int (*isendrecv_replace)(void*, N, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Request*);
  int (*mrecv)(void*, N, MPI_Datatype, MPI_Message*, MPI_Status*);
  int (*imrecv)(void*, N, MPI_Datatype, MPI_Message*, MPI_Request*);
};

template <class N>
Functions<N> functions;

struct Probes {
  int (*probe)(int, int, MPI_Comm, MPI_Status*);
  int (*iprobe)(int, int, MPI_Comm, int*, MPI_Status*);
  int (*mprobe)(int, int, MPI_Comm, MPI_Message*, MPI_Status*);
  int (*improbe)(int, int, MPI_Comm, int*, MPI_Message*, MPI_Status*);
};
Probes probes;

bool is_alone() {
  return !is_anything_under_way();
}

int wait_for(int started, MPI_Request* request, MPI_Status* status) {
  return started == MPI_SUCCESS ? wait_with_progress(request, status) : started;
}

template <class N, auto Blocking, auto Start>
int send(const void* data, N count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const Functions<N>& f = functions<N>;
  if (is_alone()) [[likely]]
    return (f.*Blocking)(data, count, type, to, tag, comm);
  MPI_Request request;
  return wait_for((f.*Start)(data, count, type, to, tag, comm, &request), &request, MPI_STATUS_IGNORE);
}

template <class N>
int recv(void* data, N count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  const Functions<N>& f = functions<N>;
  if (is_alone()) [[likely]]
    return f.recv(data, count, type, from, tag, comm, status);
  MPI_Request request;
  return wait_for(f.irecv(data, count, type, from, tag, comm, &request), &request, status);
}

template <class N>
int sendrecv(const void* sent, N sent_count, MPI_Datatype sent_type, int to, int sent_tag, void* received,
             N received_count, MPI_Datatype received_type, int from, int received_tag, MPI_Comm comm,
             MPI_Status* status) {
  const Functions<N>& f = functions<N>;
  if (is_alone()) [[likely]]
    return f.sendrecv(sent, sent_count, sent_type, to, sent_tag, received, received_count, received_type,
                      from, received_tag, comm, status);
  MPI_Request receive, sending;
  if (const int code = f.irecv(received, received_count, received_type, from, received_tag, comm, &receive);
      code != MPI_SUCCESS)
    return code;
  if (const int code = f.isend(sent, sent_count, sent_type, to, sent_tag, comm, &sending);
      code != MPI_SUCCESS) {
    host().Cancel(&receive);
    host().Wait(&receive, MPI_STATUS_IGNORE);
    return code;
  }
  const int sent_code = wait_with_progress(&sending, MPI_STATUS_IGNORE);
  const int received_code = wait_with_progress(&receive, status);
  return sent_code != MPI_SUCCESS ? sent_code : received_code;
}

// Its non-blocking form came with MPI 4.
template <class N>
int sendrecv_replace(void* data, N count, MPI_Datatype type, int to, int sent_tag, int from, int received_tag,
                     MPI_Comm comm, MPI_Status* status) {
  const Functions<N>& f = functions<N>;
  if (is_alone() || !f.isendrecv_replace) [[likely]]
    return f.sendrecv_replace(data, count, type, to, sent_tag, from, received_tag, comm, status);
  MPI_Request request;
  return wait_for(f.isendrecv_replace(data, count, type, to, sent_tag, from, received_tag, comm, &request),
                  &request, status);
}

template <class N>
int mrecv(void* data, N count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  const Functions<N>& f = functions<N>;
  if (is_alone()) [[likely]]
    return f.mrecv(data, count, type, message, status);
  MPI_Request request;
  return wait_for(f.imrecv(data, count, type, message, &request), &request, status);
}

int probe(int from, int tag, MPI_Comm comm, MPI_Status* status) {
  return wait_by_tests([&](int* found) { return probes.iprobe(from, tag, comm, found, status); },
                       [&] { return probes.probe(from, tag, comm, status); });
}

int mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return wait_by_tests([&](int* found) { return probes.improbe(from, tag, comm, found, message, status); },
                       [&] { return probes.mprobe(from, tag, comm, message, status); });
}

// MPI_X, or MPI_X_c for the large-count form.
template <class N, class Function>
void find(Function& slot, std::string name) {
  if constexpr (!std::is_same_v<N, int>) name += "_c";
  slot = reinterpret_cast<Function>(host_symbol(name.c_str()));
}

template <class N>
void find_functions() {
  Functions<N>& f = functions<N>;
  find<N>(f.send, "PMPI_Send");
  find<N>(f.ssend, "PMPI_Ssend");
  find<N>(f.rsend, "PMPI_Rsend");
  find<N>(f.isend, "PMPI_Isend");
  find<N>(f.issend, "PMPI_Issend");
  find<N>(f.irsend, "PMPI_Irsend");
  find<N>(f.recv, "PMPI_Recv");
  find<N>(f.irecv, "PMPI_Irecv");
  find<N>(f.sendrecv, "PMPI_Sendrecv");
  find<N>(f.sendrecv_replace, "PMPI_Sendrecv_replace");
  find<N>(f.isendrecv_replace, "PMPI_Isendrecv_replace");
  find<N>(f.mrecv, "PMPI_Mrecv");
  find<N>(f.imrecv, "PMPI_Imrecv");
}

}  // namespace

#define HOCKET_INSTALL_FORMS(N, suffix)                                                           \
  install(own, HOCKET_CALL_Send##suffix, &send<N, &Functions<N>::send, &Functions<N>::isend>);    \
  install(own, HOCKET_CALL_Ssend##suffix, &send<N, &Functions<N>::ssend, &Functions<N>::issend>); \
  install(own, HOCKET_CALL_Rsend##suffix, &send<N, &Functions<N>::rsend, &Functions<N>::irsend>); \
  install(own, HOCKET_CALL_Recv##suffix, &recv<N>);                                               \
  install(own, HOCKET_CALL_Sendrecv##suffix, &sendrecv<N>);                                       \
  install(own, HOCKET_CALL_Sendrecv_replace##suffix, &sendrecv_replace<N>);                       \
  install(own, HOCKET_CALL_Mrecv##suffix, &mrecv<N>);

void install_point_to_point(void** own) {
  if (lends_progress()) return;
  find_functions<int>();
  find_functions<MPI_Count>();
  find<int>(probes.probe, "PMPI_Probe");
  find<int>(probes.iprobe, "PMPI_Iprobe");
  find<int>(probes.mprobe, "PMPI_Mprobe");
  find<int>(probes.improbe, "PMPI_Improbe");
  HOCKET_INSTALL_FORMS(int, )
  if (functions<MPI_Count>.send) {
    HOCKET_INSTALL_FORMS(MPI_Count, _c)
  }
  install(own, HOCKET_CALL_Probe, &probe);
  install(own, HOCKET_CALL_Mprobe, &mprobe);
}

}  // namespace hocket::interpose
