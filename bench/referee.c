// What the ranks agree on between the timed calls. In shared memory: an MPI that polls without yielding takes
// 20 ms for a barrier once ranks outnumber cores, more than all that is measured, and asking one of the two
// sides would favour it. MPI_Iprobe keeps the MPI moving for ranks that still wait for this one inside a
// call.
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "hocket_bench.h"

struct page {
  _Atomic unsigned arrived;
  _Atomic unsigned round;
  double values[];  // two sets in turn: one is read while the next is written
};

static struct {
  MPI_Win window;
  struct page* page;  // NULL: the ranks are on several machines, and the MPI itself is asked
  double* values;
  int ranks, rank;
  unsigned uses;
} referee;

static bool one_machine(void) {
  MPI_Comm node;
  int here = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &here);
  MPI_Comm_free(&node);
  return here == referee.ranks;  // a rank whose machine holds all ranks knows that of all others
}

static void share_page(void) {
  const MPI_Aint bytes = (MPI_Aint)(sizeof(struct page) + 2 * (size_t)referee.ranks * sizeof(double));
  MPI_Aint size = 0;
  int unit = 1;
  void* own = NULL;
  MPI_Win_allocate_shared(referee.rank == 0 ? bytes : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own,
                          &referee.window);
  MPI_Win_shared_query(referee.window, 0, &size, &unit, (void*)&referee.page);
  if (referee.rank == 0) {
    atomic_init(&referee.page->arrived, 0);
    atomic_init(&referee.page->round, 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void referee_open(void) {
  MPI_Comm_size(MPI_COMM_WORLD, &referee.ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &referee.rank);
  if (one_machine())
    share_page();
  else
    referee.values = calloc((size_t)referee.ranks, sizeof(double));
}

void referee_close(void) {
  if (referee.page) MPI_Win_free(&referee.window);
  free(referee.values);
}

static void wait_for_all(struct page* page) {
  const unsigned round = atomic_load(&page->round);
  if (atomic_fetch_add(&page->arrived, 1) + 1 == (unsigned)referee.ranks) {
    atomic_store(&page->arrived, 0);
    atomic_store(&page->round, round + 1);
    return;
  }
  int found = 0;
  while (atomic_load(&page->round) == round) {
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    sched_yield();
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
