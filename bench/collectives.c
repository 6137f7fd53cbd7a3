// The collectives as rows: how each is called, what its buffers look like, and what must come out.
#include "hocket_bench.h"

#include <string.h>

static MPI_Comm world(void) {
  return MPI_COMM_WORLD;
}

static void call_barrier(const struct cell* c) {
  (void)c;
  MPI_Barrier(world());
}
static void call_bcast(const struct cell* c) {
  MPI_Bcast(c->rank == c->root ? c->send : c->recv, (int)c->count, c->type, c->root, world());
}
static void call_reduce(const struct cell* c) {
  MPI_Reduce(c->send, c->recv, (int)c->count, c->type, MPI_SUM, c->root, world());
}
static void call_allreduce(const struct cell* c) {
  MPI_Allreduce(c->send, c->recv, (int)c->count, c->type, MPI_SUM, world());
}
static void call_gather(const struct cell* c) {
  MPI_Gather(c->send, (int)c->count, c->type, c->recv, (int)c->count, c->type, c->root, world());
}
static void call_gatherv(const struct cell* c) {
  MPI_Gatherv(c->send, (int)c->send_elements, c->type, c->recv, c->recv_counts, c->recv_offsets, c->type,
              c->root, world());
}
static void call_scatter(const struct cell* c) {
  MPI_Scatter(c->send, (int)c->count, c->type, c->recv, (int)c->count, c->type, c->root, world());
}
static void call_scatterv(const struct cell* c) {
  MPI_Scatterv(c->send, c->send_counts, c->send_offsets, c->type, c->recv, (int)c->recv_elements, c->type,
               c->root, world());
}
static void call_allgather(const struct cell* c) {
  MPI_Allgather(c->send, (int)c->count, c->type, c->recv, (int)c->count, c->type, world());
}
static void call_allgatherv(const struct cell* c) {
  MPI_Allgatherv(c->send, (int)c->send_elements, c->type, c->recv, c->recv_counts, c->recv_offsets, c->type,
                 world());
}
static void call_alltoall(const struct cell* c) {
  MPI_Alltoall(c->send, (int)c->count, c->type, c->recv, (int)c->count, c->type, world());
}
static void call_alltoallv(const struct cell* c) {
  MPI_Alltoallv(c->send, c->send_counts, c->send_offsets, c->type, c->recv, c->recv_counts, c->recv_offsets,
                c->type, world());
}
static void call_reduce_scatter(const struct cell* c) {
  MPI_Reduce_scatter(c->send, c->recv, c->send_counts, c->type, MPI_SUM, world());
}
static void call_reduce_scatter_block(const struct cell* c) {
  MPI_Reduce_scatter_block(c->send, c->recv, (int)c->count, c->type, MPI_SUM, world());
}
static void call_scan(const struct cell* c) {
  MPI_Scan(c->send, c->recv, (int)c->count, c->type, MPI_SUM, world());
}
static void call_exscan(const struct cell* c) {
  MPI_Exscan(c->send, c->recv, (int)c->count, c->type, MPI_SUM, world());
}

static size_t salt_of(int block) {
  return (size_t)block * 131;
}

static struct origin from_root(const struct cell* c, int block) {
  (void)block;
  return (struct origin){c->root, c->root + 1, 0};
}
static struct origin own_part_of_root(const struct cell* c, int block) {
  (void)block;
  return (struct origin){c->root, c->root + 1, salt_of(c->rank)};
}
static struct origin from_everyone(const struct cell* c, int block) {
  (void)block;
  return (struct origin){0, c->ranks, 0};
}
static struct origin from_block_owner(const struct cell* c, int block) {
  (void)c;
  return (struct origin){block, block + 1, 0};
}
static struct origin own_part_of_owner(const struct cell* c, int block) {
  return (struct origin){block, block + 1, salt_of(c->rank)};
}
static struct origin own_part_of_everyone(const struct cell* c, int block) {
  (void)block;
  return (struct origin){0, c->ranks, salt_of(c->rank)};
}
static struct origin up_to_self(const struct cell* c, int block) {
  (void)block;
  return (struct origin){0, c->rank + 1, 0};
}
static struct origin before_self(const struct cell* c, int block) {
  (void)block;
  return (struct origin){0, c->rank, 0};
}

// clang-format off
static const struct collective collectives[] = {
  // name, call, send_blocks, recv_blocks, send_root, recv_root, vector, uneven, origin
  {"barrier",             call_barrier,               0,  0, false, false, true,  false, from_root},
  {"bcast",               call_bcast,                 1,  1, true,  false, true,  false, from_root},
  {"reduce",              call_reduce,                1,  1, false, true,  true,  false, from_everyone},
  {"allreduce",           call_allreduce,             1,  1, false, false, true,  false, from_everyone},
  {"gather",              call_gather,                1, -1, false, true,  false, false, from_block_owner},
  {"gatherv",             call_gatherv,               1, -1, false, true,  false, true,  from_block_owner},
  {"scatter",             call_scatter,              -1,  1, true,  false, false, false, own_part_of_root},
  {"scatterv",            call_scatterv,             -1,  1, true,  false, false, true,  own_part_of_root},
  {"allgather",           call_allgather,             1, -1, false, false, false, false, from_block_owner},
  {"allgatherv",          call_allgatherv,            1, -1, false, false, false, true,  from_block_owner},
  {"alltoall",            call_alltoall,             -1, -1, false, false, false, false, own_part_of_owner},
  {"alltoallv",           call_alltoallv,            -1, -1, false, false, false, true,  own_part_of_owner},
  {"reduce_scatter",      call_reduce_scatter,       -1,  1, false, false, false, true,  own_part_of_everyone},
  {"reduce_scatter_block",call_reduce_scatter_block, -1,  1, false, false, false, false, own_part_of_everyone},
  {"scan",                call_scan,                  1,  1, false, false, true,  false, up_to_self},
  {"exscan",              call_exscan,                1,  1, false, false, true,  false, before_self},
};
// clang-format on

const struct collective* collective_at(int index) {
  return index < (int)(sizeof collectives / sizeof *collectives) ? &collectives[index] : NULL;
}

const struct collective* find_collective(const char* name) {
  for (int i = 0; collective_at(i); ++i)
    if (strcmp(collectives[i].name, name) == 0) return &collectives[i];
  return NULL;
}
