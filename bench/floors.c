// What no library can undercut: ranks that tell each other that they are there, and one copy of every byte of
// an alltoall, from the sender's memory to the receiver's; by the ranks themselves, for which the sender's
// memory would have to be shared, and by the kernel, which needs nothing of the program.
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "costs.h"

// Of all ranks, one after the other, each part beginning at a page.
struct shared {
  MPI_Win window;
  char* parts;
  size_t bytes;  // of each part
};

static struct shared share(size_t bytes) {
  enum { page = 4096 };
  struct shared made = {.bytes = (bytes + page - 1) / page * page};
  MPI_Aint size = rank == 0 ? (MPI_Aint)(made.bytes * (size_t)ranks + page) : 0;
  int unit = 0;
  void* base = NULL;
  MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&base, &made.window);
  MPI_Win_shared_query(made.window, 0, &size, &unit, (void*)&base);
  made.parts = (char*)(((size_t)base + page - 1) / page * page);
  return made;
}

static char* part_of(const struct shared* shared, int owner) {
  return shared->parts + (size_t)owner * shared->bytes;
}

// Everybody tells everybody, and lets others run while it waits: what is left of a collective when nothing is
// computed, checked or copied.
static struct shared flags;

static atomic_long* flag_of(int owner) {
  return (atomic_long*)part_of(&flags, owner);
}

static bool all_reached(long value) {
  for (int r = 0; r < ranks; ++r)
    if (atomic_load_explicit(flag_of(r), memory_order_acquire) < value) return false;
  return true;
}

static void meet(void) {
  const long value = atomic_load_explicit(flag_of(rank), memory_order_relaxed) + 1;
  atomic_store_explicit(flag_of(rank), value, memory_order_release);
  while (!all_reached(value)) sched_yield();
}

static void hand_over(const struct mpi* mpi, long times) {
  (void)mpi;
  for (long i = 0; i < times; ++i) meet();
}

static void call_allreduce(const struct mpi* mpi, long times) {
  double in = 1, out;
  for (long i = 0; i < times; ++i) mpi->allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void small_calls(void) {
  struct side sides[] = {{"hand-over alone", hand_over, &with, {0}}, {"with", call_allreduce, &with, {0}}};
  compare("allreduce_8_bytes", "us", 1e6, 200, sides, 2);
}

static char *mine, *received;
static size_t block;

// Every rank takes its blocks, each from another rank at the same time.
static void exchange(long times, void (*take)(int from, void* to)) {
  for (long i = 0; i < times; ++i) {
    meet();
    for (int k = 0; k < ranks; ++k) take((rank + k) % ranks, received + (size_t)((rank + k) % ranks) * block);
    meet();
  }
}

// Out of memory that all ranks share, which no program can ask of another.
static struct shared sent;
static void take_shared(int from, void* to) {
  memcpy(to, part_of(&sent, from) + (size_t)rank * block, block);
}
static void copy_alone(const struct mpi* mpi, long times) {
  (void)mpi;
  exchange(times, take_shared);
}

// Out of the sender's own memory.
struct owner {
  pid_t process;
  uintptr_t data;  // its send buffer
};
static struct owner* owners;
static bool was_refused;
static void take_by_kernel(int from, void* to) {
  const struct owner* owner = &owners[from];
  const struct iovec there = {(void*)(owner->data + (size_t)rank * block), block};
  if (from == rank)
    memcpy(to, mine + (size_t)rank * block, block);
  else if (process_vm_readv(owner->process, &(struct iovec){to, block}, 1, &there, 1, 0) != (ssize_t)block)
    was_refused = true;
}
static void copy_by_kernel(const struct mpi* mpi, long times) {
  (void)mpi;
  exchange(times, take_by_kernel);
}

static bool may_copy_by_kernel(void) {
  int refused;
  was_refused = false;
  copy_by_kernel(&with, 1);
  refused = was_refused;
  MPI_Allreduce(MPI_IN_PLACE, &refused, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return !refused;
}

static void call_ialltoall(const struct mpi* mpi, long times) {
  for (long i = 0; i < times; ++i) {
    MPI_Request request;
    mpi->ialltoall(mine, (int)block, MPI_BYTE, received, (int)block, MPI_BYTE, MPI_COMM_WORLD, &request);
    mpi->wait(&request, MPI_STATUS_IGNORE);
  }
}

static void introduce(void) {
  const struct owner own = {getpid(), (uintptr_t)mine};
  owners = malloc((size_t)ranks * sizeof *owners);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  MPI_Allgather(&own, sizeof own, MPI_BYTE, owners, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
}

static void exchanges(size_t bytes, const char* what) {
  block = bytes;
  sent = share(block * (size_t)ranks);
  mine = malloc(block * (size_t)ranks);
  received = malloc(block * (size_t)ranks);
  memset(part_of(&sent, rank), rank, block * (size_t)ranks);
  memset(mine, rank, block * (size_t)ranks);
  introduce();
  struct side sides[] = {{"copies alone", copy_alone, &with, {0}},
                         {"without", call_ialltoall, &without, {0}},
                         {"with", call_ialltoall, &with, {0}},
                         {"kernel's copies alone", copy_by_kernel, &with, {0}}};
  compare(what, "us", 1e6, 200, sides, may_copy_by_kernel() ? 4 : 3);
  free(owners);
  free(received);
  free(mine);
  MPI_Win_free(&sent.window);
}

void floors(void) {
  flags = share(sizeof(atomic_long));
  atomic_store(flag_of(rank), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  small_calls();
  exchanges(4 << 10, "ialltoall_4_KiB");
  exchanges(64 << 10, "ialltoall_64_KiB");
  exchanges(512 << 10, "ialltoall_512_KiB");
  MPI_Win_free(&flags.window);
}
