// The contract between stage 0 (libhocket.so, in every process) and the plugin it loads at the first MPI call
// (libhocket_<family>.so). Plain C, and no type of MPI in it: stage 0 is built without an mpi.h and serves
// all families.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Raised whenever the struct below or the meaning of a slot changes; a plugin declines what it does not know.
#define HOCKET_ABI_VERSION 1u

// The index of a call in the table of slots: HOCKET_CALL_Allreduce, HOCKET_CALL_X_Allreduce_init and so on.
enum hocket_call {
#define CALL(name, kind) HOCKET_CALL_##name,
#define EXTENSION(name, kind) HOCKET_CALL_X_##name,
#include "interpose/calls.def"
#undef CALL
#undef EXTENSION
  HOCKET_CALLS
};

struct hocket_stage0 {
  uint32_t abi_version;                  // HOCKET_ABI_VERSION of stage 0
  uint32_t calls;                        // HOCKET_CALLS of stage 0
  const char* family;                    // "ompi", "mpich" or "abi"
  const char* mpi_path;                  // the library that defines PMPI_Init, as the loader names it
  void* mpi_handle;                      // dlopen handle of it
  void* (*real)(const char* pmpi_name);  // the MPI's own function; NULL when this MPI has none
  void* (*data)(const char* symbol);     // the MPI's data, where the program's copy of it lies
  int (*caller_is_mpi)(const void* return_address);  // hocket_caller_is_mpi
  const char* self_path;                             // libhocket.so
};

// The plugin's one entry. It writes its implementations to own[0 .. calls) and leaves the others NULL; these
// go to the MPI directly. Returns 0, or nonzero to decline, and then nothing is intercepted. MPI calls made
// meanwhile reach the MPI. A call that neither the plugin nor the MPI has is withdrawn: weak references to it
// read as NULL again.
int hocket_plugin_attach(const struct hocket_stage0* stage0, void** own);
typedef int (*hocket_plugin_attach_function)(const struct hocket_stage0* stage0, void** own);

// Exported by libhocket.so.

// Does this return address lie in the MPI library or its internals (and not in its Fortran or C++ layer,
// which is the user's side)? Such a call is the MPI's own business and passes through. Exact also after
// dlclose; never blocks.
int hocket_caller_is_mpi(const void* return_address);

// One line: whether Hocket is attached to this process's MPI, and if not, why. Never NULL; valid for good.
const char* hocket_status(void);

#ifdef __cplusplus
}
#endif
