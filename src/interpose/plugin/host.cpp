#include "interpose/plugin/host.hpp"

namespace hocket::interpose {

Host host_functions;
Null null_handles;

namespace {

void* (*find_data)(const char*) = nullptr;
void* (*find_symbol)(const char*) = nullptr;

#define X(name, iname)                                                                                       \
  static_assert(std::is_same_v<decltype(Counted<int>::name), decltype(&MPI_##name)>, "shape of MPI_" #name); \
  static_assert(std::is_same_v<decltype(Started<int>::name), decltype(&MPI_##iname)>,                        \
                "shape of "                                                                                  \
                "MPI_" #iname);
HOCKET_COUNTED_FUNCTIONS(X)
#undef X

template <class Function>
void find(Function& slot, const hocket_stage0& stage0, const char* name) {
  slot = reinterpret_cast<Function>(stage0.real(name));
}

// Of a function that older MPIs have as an extension.
template <class Function>
void find_either(Function& slot, const hocket_stage0& stage0, const char* name, const char* extension) {
  find(slot, stage0, name);
  if (!slot) find(slot, stage0, extension);
}

}  // namespace

void* mpi_data(const char* symbol) {
  return find_data(symbol);
}

void* host_symbol(const char* name) {
  return find_symbol(name);
}

void find_host_functions(const hocket_stage0& stage0) {
  find_data = stage0.data;
  find_symbol = stage0.real;
  Host& h = host_functions;
#define X(name) find(h.name, stage0, "PMPI_" #name);
  HOCKET_HOST_FUNCTIONS(X)
#undef X
#define X(name, iname)                                                                   \
  find(h.small.name, stage0, "PMPI_" #name);                                             \
  find(h.large.name, stage0, "PMPI_" #name "_c");                                        \
  find(h.small_started.name, stage0, "PMPI_" #iname);                                    \
  find(h.large_started.name, stage0, "PMPI_" #iname "_c");                               \
  find_either(h.small_kept.name, stage0, "PMPI_" #name "_init", "PMPIX_" #name "_init"); \
  find(h.large_kept.name, stage0, "PMPI_" #name "_init_c");
  HOCKET_COUNTED_FUNCTIONS(X)
#undef X
  find(h.small.Barrier, stage0, "PMPI_Barrier");
  find(h.small_started.Barrier, stage0, "PMPI_Ibarrier");
  find_either(h.small_kept.Barrier, stage0, "PMPI_Barrier_init", "PMPIX_Barrier_init");
  find(h.Pack_c, stage0, "PMPI_Pack_c");
  find(h.Unpack_c, stage0, "PMPI_Unpack_c");
  find(h.Type_get_envelope_c, stage0, "PMPI_Type_get_envelope_c");
  find(h.Type_get_contents_c, stage0, "PMPI_Type_get_contents_c");
  find(h.Comm_is_revoked, stage0, "PMPIX_Comm_is_revoked");
  find(h.Request_get_status_all, stage0, "PMPI_Request_get_status_all");
  find(h.Request_get_status_any, stage0, "PMPI_Request_get_status_any");
  find(h.Request_get_status_some, stage0, "PMPI_Request_get_status_some");
  find(h.Request_is_complete, stage0, "PMPIX_Request_is_complete");
  null_handles = {MPI_COMM_NULL, MPI_DATATYPE_NULL, MPI_GROUP_NULL, MPI_REQUEST_NULL, MPI_INFO_NULL};
}

}  // namespace hocket::interpose
