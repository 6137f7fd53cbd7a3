// A stand-in for a plugin: takes over Barrier and Allreduce_c, and reports through exported variables what it
// saw.
#include <stdlib.h>
#include <string.h>

#include <dlfcn.h>

#include "interpose/abi.h"

static const struct hocket_stage0* stage0;
static int (*real_barrier)(void*);
int fake_plugin_attached, fake_plugin_barriers, fake_plugin_early_barrier;

// 1000 for a call from the user's side, 2000 for one from within the MPI, and the MPI's own count on top.
static int barrier(void* comm) {
  __atomic_fetch_add(&fake_plugin_barriers, 1, __ATOMIC_RELAXED);
  const int inside = stage0->caller_is_mpi(__builtin_return_address(0));
  if (getenv("FAKE_PLUGIN_COUNTS_ONLY")) return 0;
  return (inside ? 2000 : 1000) + real_barrier(comm);
}

static int allreduce_c(void) {
  return 77;
}

// A constructor that calls MPI, as another tool's might: it must reach the MPI and not wait for the plugin it
// belongs to.
__attribute__((constructor)) static void call_early(void) {
  int (*entry)(void*) = (int (*)(void*))dlsym(RTLD_DEFAULT, "MPI_Barrier");
  if (entry && getenv("FAKE_PLUGIN_EARLY")) fake_plugin_early_barrier = entry(NULL);
}

__attribute__((visibility("default"))) int hocket_plugin_attach(const struct hocket_stage0* given,
                                                                void** own) {
  const char* wish = getenv("FAKE_PLUGIN");
  if (wish && !strcmp(wish, "decline")) return 1;
  if (given->abi_version != HOCKET_ABI_VERSION || given->calls != HOCKET_CALLS) return 2;
  stage0 = given;
  *(void**)&real_barrier = given->real("PMPI_Barrier");
  if (!real_barrier || given->real("PMPI_Nothing")) return 3;
  if (!strcmp(given->family, "ompi") && !given->data("ompi_mpi_comm_world")) return 4;
  ++fake_plugin_attached;
  own[HOCKET_CALL_Barrier] = (void*)barrier;
  own[HOCKET_CALL_Allreduce_c] = (void*)allreduce_c;
  return 0;
}
