// Where an implementation goes into stage 0's table.
#pragma once

#include "interpose/abi.h"

namespace hocket::interpose {

template <class Function>
void install(void** own, hocket_call call, Function* function) {
  own[call] = reinterpret_cast<void*>(function);
}

void install_collectives(void** own);
void install_nonblocking(void** own);
void install_persistent(void** own);
void install_completion(void** own);
/// Where the MPI lends no progress.
void install_point_to_point(void** own);
void install_lifecycle(void** own);
void install_sessions(void** own);
void install_creation(void** own);
void install_topologies(void** own);
void install_groups(void** own);
void install_spawn(void** own);
void install_memory(void** own);
/// Collectives that the MPI runs and that only leave their mark.
void install_marked(void** own);

}  // namespace hocket::interpose
