// A collective between two nodes by nothing but a thread and a TCP connection: the bound for every worker
// that runs on the nodes' own cores. Alltoall, allgather and bcast of two ranks.
#pragma once

#include "nonblocking.h"

bool sockets_can(const struct cell* cell);
void sockets_open(const struct cell* cell);  // the first time it connects both ranks: a call of all ranks
void sockets_start(void);
bool sockets_test(void);
void sockets_wait(void);
double sockets_core_now(void);  // seconds that the thread has run
