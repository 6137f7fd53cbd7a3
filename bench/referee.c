// What the ranks agree on between the timed calls. In shared memory: an MPI that polls without yielding takes
// 20 ms for a barrier once ranks outnumber cores, more than all that is measured, and asking one of the two
// sides would favour it. MPI_Iprobe keeps the MPI moving for ranks that still wait for this one inside a
// call. In a lab, where all nodes share the cores of one machine, who waits here sleeps: it would take them
// from those that are still being timed.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hocket_bench.h"

struct page {
  double token;  // tells this page from what has the same process and file number in another container
  _Atomic unsigned arrived;
  _Atomic unsigned round;
  double values[];  // two sets in turn: one is read while the next is written
};

static struct {
  struct page* page;  // NULL: no memory is shared by all ranks, and the MPI itself is asked
  double* values;
  int ranks, rank;
  unsigned uses;
} referee;

static bool everywhere(bool here) {
  int mine = here, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}

static bool one_machine(void) {
  MPI_Comm node;
  int here = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &here);
  MPI_Comm_free(&node);
  return everywhere(here == referee.ranks);
}

static size_t page_bytes(void) {
  return sizeof(struct page) + 2 * (size_t)referee.ranks * sizeof(double);
}

// Memory without a name, filled with zeros: however the job ends, nothing of it stays.
static int new_memory(void) {
  const int file = memfd_create("hocket_bench", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, (off_t)page_bytes()) != 0) perror("hocket_bench: ftruncate");
  return file;
}

struct owner {
  int process, file;
  double token;
};

// A file that all ranks can open, where they are on one machine and look like several: in a lab.
static const char* named_file(void) {
  return getenv("BENCH_REFEREE");
}

static int named_memory(void) {
  const int file = open(named_file(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, (off_t)page_bytes()) != 0) perror(named_file());
  return file;
}

static struct owner new_owner(void) {
  const struct owner owner = {(int)getpid(), named_file() ? named_memory() : new_memory(), MPI_Wtime()};
  return owner;
}

static int memory_of(const struct owner* owner) {
  if (referee.rank == 0) return owner->file;
  if (named_file()) return open(named_file(), O_RDWR | O_CLOEXEC);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", owner->process, owner->file);
  return open(path, O_RDWR | O_CLOEXEC);
}

static struct page* mapped(int file) {
  struct stat found;
  if (file < 0 || fstat(file, &found) != 0 || found.st_size != (off_t)page_bytes()) return NULL;
  void* at = mmap(NULL, page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return at == MAP_FAILED ? NULL : at;
}

static struct page* page_of(const struct owner* owner, int file) {
  struct page* page = mapped(file);
  if (page && referee.rank == 0) page->token = owner->token;
  MPI_Barrier(MPI_COMM_WORLD);
  const bool all_have_it = everywhere(page && page->token == owner->token);
  if (page && !all_have_it) munmap(page, page_bytes());
  return all_have_it ? page : NULL;
}

static struct page* shared_page(void) {
  struct owner owner = {0};
  if (referee.rank == 0) owner = new_owner();
  MPI_Bcast(&owner, (int)sizeof owner, MPI_BYTE, 0, MPI_COMM_WORLD);
  const int file = memory_of(&owner);
  struct page* page = page_of(&owner, file);  // nobody closes the file before all have opened it
  if (file >= 0) close(file);
  return page;
}

void referee_open(void) {
  MPI_Comm_size(MPI_COMM_WORLD, &referee.ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &referee.rank);
  referee.values = calloc((size_t)referee.ranks, sizeof(double));
  if (named_file() || one_machine()) referee.page = shared_page();
}

void referee_close(void) {
  if (referee.page) munmap(referee.page, page_bytes());
  free(referee.values);
}

static void wake_all(struct page* page) {
  if (named_file()) syscall(SYS_futex, &page->round, FUTEX_WAKE, referee.ranks, NULL, NULL, 0);
}

// A while, at most until the round is over.
static void pause_in(struct page* page, unsigned round) {
  static const struct timespec longest = {0, 1000000};
  if (named_file())
    syscall(SYS_futex, &page->round, FUTEX_WAIT, round, &longest, NULL, 0);
  else
    sched_yield();
}

static void wait_for_all(struct page* page) {
  const unsigned round = atomic_load(&page->round);
  if (atomic_fetch_add(&page->arrived, 1) + 1 == (unsigned)referee.ranks) {
    atomic_store(&page->arrived, 0);
    atomic_store(&page->round, round + 1);
    wake_all(page);
    return;
  }
  int found = 0;
  while (atomic_load(&page->round) == round) {
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    pause_in(page, round);
  }
}

// Everybody's values; no rank has them before all have come.
static const double* exchange(double mine) {
  if (!referee.page) {
    MPI_Allgather(&mine, 1, MPI_DOUBLE, referee.values, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    return referee.values;
  }
  double* values = referee.page->values + (size_t)(referee.uses++ % 2) * (size_t)referee.ranks;
  values[referee.rank] = mine;
  wait_for_all(referee.page);
  return values;
}

bool referee_has_one_clock(void) {
  return referee.page != NULL;
}

void referee_start(void) {
  exchange(0);
}

double referee_slowest(double seconds) {
  const double* values = exchange(seconds);
  double most = values[0];
  for (int r = 1; r < referee.ranks; ++r)
    if (values[r] > most) most = values[r];
  return most;
}

bool referee_decides(bool answer_of_rank_0) {
  return exchange(answer_of_rank_0)[0] != 0;
}
