// Inside stage 0: what its files share. Stage 0 is the part of Hocket that sits in every process which
// inherits the preload: it must cost nothing and break nothing where no MPI is used, and choose a plugin at
// the first MPI call where one is.
#pragma once

// Distance between trampolines, so that an address can be turned into the index of its call.
#if defined(__x86_64__)
#define HOCKET_TRAMPOLINE_SIZE 16
#elif defined(__aarch64__)
#define HOCKET_TRAMPOLINE_SIZE 32
#endif

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

#include "interpose/abi.h"

#define HOCKET_INTERNAL __attribute__((visibility("hidden")))
#define HOCKET_EXPORT __attribute__((visibility("default")))

// The MPI of this process.
struct host {
  const char* family;  // NULL: there is no MPI, or none that Hocket knows
  char path[4096];     // empty when nothing defines PMPI_Init
  uintptr_t base;      // its load address
  void* handle;
};

// host.c
HOCKET_INTERNAL void host_find(struct host* host);

// caller.c
HOCKET_INTERNAL void caller_prepare(const struct host* host);

// withdraw.c: the calls with missing[i] != 0 read as not exported from now on.
HOCKET_INTERNAL void withdraw(const unsigned char* missing);

// control.c: the plugin that answers hocket_control and hocket_report_text from now on.
HOCKET_INTERNAL void control_connect(void* plugin);

// The assembler part: where MPI_X begins, and where it jumps to.
extern HOCKET_INTERNAL const char hocket_stage0_trampolines[];
extern HOCKET_INTERNAL void* _Atomic hocket_stage0_slots[HOCKET_CALLS];
#endif
