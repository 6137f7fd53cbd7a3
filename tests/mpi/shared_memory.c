// Memory that the node's worker maps: from MPI_Alloc_mem (argument "alloc_mem"), or from malloc under the
// shared heap ("malloc"). In collectives, freed and taken again, in windows, in children.
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../harness/shared_heap.h"
#include "check.h"
#include "worker_process.h"

static int size;
static int by_malloc;

static int* take(size_t bytes) {
  int* piece = NULL;
  if (by_malloc)
    piece = malloc(bytes);
  else
    CHECK(MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &piece) == MPI_SUCCESS);
  return piece;
}

static void give_back(int* piece) {
  if (by_malloc)
    free(piece);
  else
    CHECK(MPI_Free_mem(piece) == MPI_SUCCESS);
}

// The worker of local rank 0 has mapped it: else it would only read and write it, and all would look the
// same.
static void expect_worker_maps_it(void) {
  char path[64], line[512];
  int found = 0;
  if (check_rank != 0) return;
  snprintf(path, sizeof path, "/proc/%d/maps", (int)worker_process());
  FILE* maps = fopen(path, "r");
  while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, "hocket-heap") != NULL;
  if (maps) fclose(maps);
  context("the worker's map");
  CHECK(found);
}

static int value_of(int from, int to, int i, int round) {
  return 1000000 * from + 10000 * to + 7 * round + i % 1000;
}

static void wait_for(MPI_Request* request) {
  CHECK(MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

static void fill_blocks(int* data, int block, int round) {
  for (int to = 0; to < size; ++to)
    for (int i = 0; i < block; ++i) data[to * block + i] = value_of(check_rank, to, i, round);
}

static int are_blocks(const int* data, int block, int round) {
  for (int from = 0; from < size; ++from)
    for (int i = 0; i < block; ++i)
      if (data[from * block + i] != value_of(from, check_rank, i, round)) return 0;
  return 1;
}

// Between two pieces, and in one of them; by a blocking call, too.
static void exchange(int* in, int* out, int block, int round) {
  MPI_Request request;
  context("blocks of %d numbers, round %d", block, round);
  fill_blocks(in, block, round);
  memset(out, 0xff, sizeof(int) * (size_t)(block * size));
  MPI_Ialltoall(in, block, MPI_INT, out, block, MPI_INT, MPI_COMM_WORLD, &request);
  wait_for(&request);
  CHECK(are_blocks(out, block, round));
  fill_blocks(out, block, round + 1);
  MPI_Ialltoall(MPI_IN_PLACE, block, MPI_INT, out, block, MPI_INT, MPI_COMM_WORLD, &request);
  wait_for(&request);
  CHECK(are_blocks(out, block, round + 1));
  fill_blocks(in, block, round + 2);
  MPI_Alltoall(in, block, MPI_INT, out, block, MPI_INT, MPI_COMM_WORLD);
  CHECK(are_blocks(out, block, round + 2));
  for (int i = 0; i < block; ++i) out[i] = check_rank + i;
  MPI_Iallreduce(MPI_IN_PLACE, out, block, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  wait_for(&request);
  int right = 1;
  for (int i = 0; i < block; ++i) right &= out[i] == size * (size - 1) / 2 + size * i;
  CHECK(right);
}

static void of_all_sizes(void) {
  const int blocks[] = {1, 1000, 16384, 100000, 500000};
  for (int round = 0; round < 3; ++round)
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; ++k) {
      const size_t bytes = sizeof(int) * (size_t)(blocks[k] * size);
      int *in = take(bytes), *out = take(bytes);
      CHECK(is_shared(in) == (bytes >= 65536));
      exchange(in, out, blocks[k], round);
      give_back(round % 2 ? in : out);
      give_back(round % 2 ? out : in);
    }
}

// The same addresses, as other pieces.
static void taken_again(void) {
  enum { most = 8 };
  int* pieces[most];
  unsigned state = 4711;
  for (int round = 0; round < 40; ++round) {
    state = state * 1664525u + 1013904223u;
    const int block = 20000 + (int)(state >> 8) % 50000;
    const size_t bytes = sizeof(int) * (size_t)(block * size);
    for (int i = 0; i < most; ++i) pieces[i] = take(bytes);
    exchange(pieces[round % most], pieces[(round + 3) % most], block, round);
    for (int i = 0; i < most; ++i) give_back(pieces[(i * 3) % most]);
  }
}

static void in_windows(void) {
  enum { count = 100000 };
  int* piece = take(sizeof(int) * count);
  const int next = (check_rank + 1) % size;
  MPI_Win window;
  context("a window");
  for (int i = 0; i < count; ++i) piece[i] = -1;
  MPI_Win_create(piece, (MPI_Aint)(sizeof(int) * count), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  const int value = 100 + check_rank;
  MPI_Put(&value, 1, MPI_INT, next, 70000, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  CHECK(piece[70000] == 100 + (check_rank + size - 1) % size);
  CHECK(piece[69999] == -1);
  MPI_Win_free(&window);
  give_back(piece);
}

static void with_hints(void) {
  MPI_Info hints;
  int* piece = NULL;
  context("with hints");
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "mpi_minimum_memory_alignment", "4096");
  CHECK(MPI_Alloc_mem(300000, hints, &piece) == MPI_SUCCESS);
  CHECK(piece != NULL && (by_malloc || !is_shared(piece)));
  memset(piece, 1, 300000);
  CHECK(MPI_Free_mem(piece) == MPI_SUCCESS);
  MPI_Info_free(&hints);
}

// While an operation is under way: the child has what was there when it began, and changes nothing here.
static void in_children(void) {
  enum { block = 100000 };
  const size_t bytes = sizeof(int) * (size_t)(block * size);
  int *in = take(bytes), *out = take(bytes), *own = take(bytes);
  context("a child");
  for (int round = 0; round < 3; ++round) {
    MPI_Request request;
    fill_blocks(in, block, round);
    own[5] = round;
    MPI_Ialltoall(in, block, MPI_INT, out, block, MPI_INT, MPI_COMM_WORLD, &request);
    const pid_t pid = fork();
    if (pid == 0) {
      int right = own[5] == round && in[0] == value_of(check_rank, 0, 0, round);
      memset(in, 0x55, bytes);
      memset(out, 0x55, bytes);
      memset(own, 0x55, bytes);
      _exit(right ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    wait_for(&request);
    CHECK(are_blocks(out, block, round));
    CHECK(own[5] == round && in[0] == value_of(check_rank, 0, 0, round));
  }
  give_back(own);
  give_back(in);
  give_back(out);
}

static void expect_worker_has_done_it(void) {
  char* text = hocket_report();
  context("all");
  CHECK(strstr(text, "by the node's worker") != NULL);
  free(text);
}

int main(int argc, char** argv) {
  by_malloc = argc > 1 && strcmp(argv[1], "malloc") == 0;
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  of_all_sizes();
  expect_worker_maps_it();
  taken_again();
  in_windows();
  with_hints();
  in_children();
  expect_worker_has_done_it();
  return check_finish("shared_memory");
}
