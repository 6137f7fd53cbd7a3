// Every collective in its non-blocking and its persistent form. The persistent ones are looked up at run
// time: Open MPI 4.1 has them under MPIX_ names, and older MPIs not at all.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "nonblocking.h"
#include "nonblocking_sockets.h"

struct forms {
  const char* name;
  int (*start)(const struct cell*, MPI_Request*);
  int (*make)(const struct cell*, MPI_Request*);
  bool (*has_persistent)(void);
};

static void* persistent(const char* name) {
  char full[64];
  for (int i = 0; i < 2; ++i) {
    snprintf(full, sizeof full, "%s_%s_init", i == 0 ? "MPI" : "MPIX", name);
    void* found = dlsym(RTLD_DEFAULT, full);
    if (found) return found;
  }
  return NULL;
}

// FORMS(name, Name, arguments up to the operation's communicator): both calls differ in what follows only.
#define FORMS(name, Name, ...)                                          \
  static int start_##name(const struct cell* c, MPI_Request* request) { \
    (void)c;                                                            \
    return MPI_I##name(__VA_ARGS__, request);                           \
  }                                                                     \
  static __typeof__(&MPI_##Name##_init) find_##name(void) {             \
    static __typeof__(&MPI_##Name##_init) found;                        \
    if (!found) *(void**)&found = persistent(#Name);                    \
    return found;                                                       \
  }                                                                     \
  static bool has_##name(void) {                                        \
    return find_##name() != NULL;                                       \
  }                                                                     \
  static int make_##name(const struct cell* c, MPI_Request* request) {  \
    (void)c;                                                            \
    return find_##name()(__VA_ARGS__, MPI_INFO_NULL, request);          \
  }

#define COUNT(c) (int)(c)->count
#define SENT(c) (c)->send, (int)(c)->send_elements, (c)->type
#define RECEIVED(c) (c)->recv, (int)(c)->recv_elements, (c)->type
#define SENT_BLOCKS(c) (c)->send, (c)->send_counts, (c)->send_offsets, (c)->type
#define RECEIVED_BLOCKS(c) (c)->recv, (c)->recv_counts, (c)->recv_offsets, (c)->type
#define EVEN_BLOCKS(c) (c)->send, COUNT(c), (c)->type, (c)->recv, COUNT(c), (c)->type
#define SUM_OF(c) (c)->send, (c)->recv, COUNT(c), (c)->type, MPI_SUM
#define WORLD MPI_COMM_WORLD

// clang-format off
FORMS(barrier, Barrier, WORLD)
FORMS(bcast, Bcast, c->rank == c->root ? c->send : c->recv, COUNT(c), c->type, c->root, WORLD)
FORMS(reduce, Reduce, SUM_OF(c), c->root, WORLD)
FORMS(allreduce, Allreduce, SUM_OF(c), WORLD)
FORMS(gather, Gather, EVEN_BLOCKS(c), c->root, WORLD)
FORMS(gatherv, Gatherv, SENT(c), RECEIVED_BLOCKS(c), c->root, WORLD)
FORMS(scatter, Scatter, EVEN_BLOCKS(c), c->root, WORLD)
FORMS(scatterv, Scatterv, SENT_BLOCKS(c), RECEIVED(c), c->root, WORLD)
FORMS(allgather, Allgather, EVEN_BLOCKS(c), WORLD)
FORMS(allgatherv, Allgatherv, SENT(c), RECEIVED_BLOCKS(c), WORLD)
FORMS(alltoall, Alltoall, EVEN_BLOCKS(c), WORLD)
FORMS(alltoallv, Alltoallv, SENT_BLOCKS(c), RECEIVED_BLOCKS(c), WORLD)
FORMS(reduce_scatter, Reduce_scatter, c->send, c->recv, c->send_counts, c->type, MPI_SUM, WORLD)
FORMS(reduce_scatter_block, Reduce_scatter_block, SUM_OF(c), WORLD)
FORMS(scan, Scan, SUM_OF(c), WORLD)
FORMS(exscan, Exscan, SUM_OF(c), WORLD)
// clang-format on

#define ROW(name) {#name, start_##name, make_##name, has_##name}
static const struct forms all[] = {
    ROW(barrier),        ROW(bcast),
    ROW(reduce),         ROW(allreduce),
    ROW(gather),         ROW(gatherv),
    ROW(scatter),        ROW(scatterv),
    ROW(allgather),      ROW(allgatherv),
    ROW(alltoall),       ROW(alltoallv),
    ROW(reduce_scatter), ROW(reduce_scatter_block),
    ROW(scan),           ROW(exscan),
};

static const struct forms* forms_of(const struct cell* cell) {
  size_t i = 0;
  while (strcmp(all[i].name, cell->collective->name) != 0) ++i;  // there is one for every collective
  return &all[i];
}

bool form_exists(const struct cell* cell, enum form form) {
  if (form == form_sockets) return sockets_can(cell);
  return form != form_persistent || forms_of(cell)->has_persistent();
}

void operation_open(struct operation* operation) {
  operation->request = MPI_REQUEST_NULL;
  if (operation->form == form_sockets) sockets_open(operation->cell);
  if (operation->form == form_persistent)
    forms_of(operation->cell)->make(operation->cell, &operation->request);
}

void operation_start(struct operation* operation) {
  if (operation->form == form_blocking)
    operation->cell->collective->call(operation->cell);
  else if (operation->form == form_persistent)
    MPI_Start(&operation->request);
  else if (operation->form == form_sockets)
    sockets_start();
  else
    forms_of(operation->cell)->start(operation->cell, &operation->request);
}

bool operation_test(struct operation* operation) {
  int complete = 0;
  if (operation->form == form_sockets) return sockets_test();
  MPI_Test(&operation->request, &complete, MPI_STATUS_IGNORE);
  return complete != 0;
}

void operation_wait(struct operation* operation) {
  if (operation->form == form_sockets)
    sockets_wait();
  else if (operation->form != form_blocking)
    MPI_Wait(&operation->request, MPI_STATUS_IGNORE);
}

void operation_close(struct operation* operation) {
  if (operation->request != MPI_REQUEST_NULL) MPI_Request_free(&operation->request);
}
