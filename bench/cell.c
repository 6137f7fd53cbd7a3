// A cell's buffers: allocated, filled with numbers that identify sender, place and iteration, and checked.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hocket_bench.h"

// v-forms get blocks of half and of one and a half times the mean, alternating, so that no rank knows them
// all by luck.
size_t block_elements(const struct cell* c, int from, int to) {
  if (!c->collective->uneven) return c->count;
  const size_t half = c->count / 2;
  return (from + to) % 2 == 0 ? half : 2 * c->count - half;
}

// Which pair of ranks a block of the own buffer belongs to: only alltoall has both ends.
static size_t send_block(const struct cell* c, int block) {
  if (c->collective->send_blocks == 1) return block_elements(c, c->rank, 0);
  return block_elements(c, c->collective->recv_blocks == -1 ? c->rank : 0, block);
}

static size_t recv_block(const struct cell* c, int block) {
  if (c->collective->recv_blocks == 1) return block_elements(c, 0, c->rank);
  return block_elements(c, block, c->collective->send_blocks == -1 ? c->rank : 0);
}

static int blocks_here(const struct cell* c, int blocks, bool root_only) {
  if (root_only && c->rank != c->root) return 0;
  return blocks == -1 ? c->ranks : blocks;
}

static size_t lay_out(const struct cell* c, int blocks, size_t (*size)(const struct cell*, int), int* counts,
                      int* offsets) {
  size_t sum = 0;
  for (int b = 0; b < blocks; ++b) {
    counts[b] = (int)size(c, b);
    offsets[b] = (int)sum;
    sum += size(c, b);
  }
  return sum;
}

static MPI_Datatype type_named(const char* name, size_t* element) {
  *element = strcmp(name, "double") == 0 ? 8 : 4;
  if (strcmp(name, "double") == 0) return MPI_DOUBLE;
  return strcmp(name, "int") == 0 ? MPI_INT : MPI_FLOAT;
}

static char* buffer(size_t bytes) {
  void* p = NULL;
  if (posix_memalign(&p, 4096, bytes + 64) != 0) return NULL;
  memset(p, 0, bytes + 64);
  return p;
}

bool cell_open(struct cell* c, const struct bench_options* options, const struct collective* collective,
               size_t bytes) {
  memset(c, 0, sizeof *c);
  MPI_Comm_size(MPI_COMM_WORLD, &c->ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
  c->collective = collective;
  c->root = options->root;
  c->type = type_named(options->type, &c->element);
  c->count = bytes / c->element;
  c->bytes = bytes;
  int* tables = calloc(4 * (size_t)c->ranks, sizeof(int));
  if (!tables) return false;
  c->send_counts = tables;
  c->send_offsets = tables + c->ranks;
  c->recv_counts = tables + 2 * c->ranks;
  c->recv_offsets = tables + 3 * c->ranks;
  c->send_elements = lay_out(c, blocks_here(c, collective->send_blocks, collective->send_root), send_block,
                             c->send_counts, c->send_offsets);
  c->recv_elements = lay_out(c, blocks_here(c, collective->recv_blocks, collective->recv_root), recv_block,
                             c->recv_counts, c->recv_offsets);
  c->send = buffer(c->send_elements * c->element);
  c->recv = buffer(c->recv_elements * c->element);
  return c->send && c->recv;
}

void cell_close(struct cell* c) {
  free(c->send);
  free(c->recv);
  free(c->send_counts);
}

static uint32_t value(int rank, size_t place, unsigned iteration) {
  return ((uint32_t)rank * 5 + (uint32_t)place * 3 + iteration * 7) & 31;
}

static void store(const struct cell* c, char* at, size_t index, uint32_t number) {
  if (c->type == MPI_DOUBLE)
    ((double*)at)[index] = number;
  else if (c->type == MPI_INT)
    ((int32_t*)at)[index] = (int32_t)number;
  else
    ((float*)at)[index] = (float)number;
}

// Values repeat after this many places, so that buffers of megabytes are filled and checked by their copies.
enum { period = 32, widest_element = 8 };

struct pattern {
  char bytes[period * widest_element];
  size_t size;
};

static struct pattern pattern_of(const struct cell* c, struct origin from, unsigned iteration) {
  struct pattern p;
  p.size = period * c->element;
  for (size_t j = 0; j < period; ++j) {
    uint32_t sum = 0;
    for (int s = from.first; s < from.last; ++s) sum += value(s, from.salt + j, iteration);
    store(c, p.bytes, j, sum);
  }
  return p;
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

static void fill_block(char* at, size_t bytes, const struct pattern* p) {
  for (size_t done = 0; done < bytes; done += p->size)
    memcpy(at + done, p->bytes, least(p->size, bytes - done));
}

static bool block_is(const char* at, size_t bytes, const struct pattern* p) {
  for (size_t done = 0; done < bytes; done += p->size)
    if (memcmp(at + done, p->bytes, least(p->size, bytes - done)) != 0) return false;
  return true;
}

void cell_fill(struct cell* c, unsigned iteration) {
  const int blocks = blocks_here(c, c->collective->send_blocks, c->collective->send_root);
  for (int b = 0; b < blocks; ++b) {
    const size_t salt = c->collective->send_blocks == -1 ? (size_t)b * 131 : 0;
    const struct pattern p = pattern_of(c, (struct origin){c->rank, c->rank + 1, salt}, iteration);
    fill_block(c->send + (size_t)c->send_offsets[b] * c->element, (size_t)c->send_counts[b] * c->element, &p);
  }
  memset(c->recv, 0x5a, c->recv_elements * c->element);
}

static bool block_valid(const struct cell* c, int block, struct origin from, unsigned iteration) {
  const struct pattern p = pattern_of(c, from, iteration);
  const char* at = c->recv + (size_t)c->recv_offsets[block] * c->element;
  return block_is(at, (size_t)c->recv_counts[block] * c->element, &p);
}

bool cell_valid(const struct cell* c, unsigned iteration) {
  const bool is_bcast_root = c->collective->vector && c->collective->send_root && c->rank == c->root;
  if (is_bcast_root) return true;
  const int blocks = blocks_here(c, c->collective->recv_blocks, c->collective->recv_root);
  for (int b = 0; b < blocks; ++b) {
    const struct origin from = c->collective->origin(c, b);
    if (from.first < from.last && !block_valid(c, b, from, iteration)) return false;
  }
  return true;
}

void cell_touch(struct cell* c, unsigned iteration) {
  if (c->send_elements == 0) return;
  store(c, c->send, 0, iteration & 31);
  store(c, c->send, c->send_elements / 2, iteration & 31);
  store(c, c->send, c->send_elements - 1, iteration & 31);
}
