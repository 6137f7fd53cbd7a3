// What is paid around the collectives themselves: a call that Hocket leaves to the MPI, a communicator's
// set-up, and what no collective can undercut (floors.c). One JSON line per cost and side; docs/benchmark.md
// defines them. "without" calls the MPI's own symbols, past Hocket, in the same process.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "statistics.h"

enum { least_batches = 5 };
static const double batch_seconds = 10e-3, cost_seconds = 3;

int rank, ranks;

struct mpi without;
const struct mpi with = {MPI_Neighbor_alltoall, MPI_Comm_dup,  MPI_Allreduce,
                         MPI_Comm_free,         MPI_Ialltoall, MPI_Wait};

static int note_library(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* name = slash ? slash + 1 : info->dlpi_name;
  const bool is_mpi = strncmp(name, "libmpi.so", 9) == 0 || strncmp(name, "libmpich.so", 11) == 0;
  if (is_mpi) *(void**)found = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  return is_mpi;
}

static bool find_library(void) {
  void* library = NULL;
  dl_iterate_phdr(note_library, (void*)&library);
  if (!library) return false;
  *(void**)&without.neighbor_alltoall = dlsym(library, "PMPI_Neighbor_alltoall");
  *(void**)&without.dup = dlsym(library, "PMPI_Comm_dup");
  *(void**)&without.allreduce = dlsym(library, "PMPI_Allreduce");
  *(void**)&without.free_communicator = dlsym(library, "PMPI_Comm_free");
  *(void**)&without.ialltoall = dlsym(library, "PMPI_Ialltoall");
  *(void**)&without.wait = dlsym(library, "PMPI_Wait");
  return without.neighbor_alltoall && without.dup && without.allreduce && without.free_communicator &&
         without.ialltoall && without.wait;
}

static double timed(const struct side* side, long times) {
  referee_start();
  const double start = now();
  side->act(side->mpi, times);
  return referee_slowest(now() - start);
}

static void take_turn(struct side* side, long times, int batch) {
  side->act(side->mpi, times / 8 + 1);
  side->seconds[batch] = timed(side, times);
}

// How much of it there is time for; the same on all ranks. MPICH takes 20 ms to meet where ranks outnumber
// cores.
static int affordable(const struct side* side, int count, long* times) {
  side->act(side->mpi, 1);
  const double once = timed(side, 1);
  while (*times > 1 && once * (double)*times > batch_seconds) *times /= 2;
  const double affordable_batches = cost_seconds / (once * (double)*times * count);
  if (affordable_batches >= most_batches) return most_batches;
  return affordable_batches < least_batches ? least_batches : (int)affordable_batches;
}

void compare(const char* what, const char* unit, double scale, long times, struct side* sides, int count) {
  const int batches = affordable(&sides[0], count, &times);
  for (int batch = 0; batch < batches; ++batch)
    for (int i = 0; i < count; ++i) take_turn(&sides[batch % 2 == 0 ? i : count - 1 - i], times, batch);
  for (int i = 0; i < count; ++i) {
    sort_numbers(sides[i].seconds, batches);
    if (rank != 0) continue;
    const double each = scale / (double)times;
    printf("{\"what\": \"%s\", \"side\": \"%s\", \"ranks\": %d, \"unit\": \"%s\", ", what, sides[i].name,
           ranks, unit);
    printf("\"median\": %.4f, \"p10\": %.4f, \"p90\": %.4f}\n", sides[i].seconds[batches / 2] * each,
           sides[i].seconds[batches / 10] * each, sides[i].seconds[batches - 1 - batches / 10] * each);
    fflush(stdout);
  }
}

// A neighbourhood collective of nobody: the least that an MPI does in a collective that Hocket leaves to it.
static MPI_Comm hermits;

static void call_nobody(const struct mpi* mpi, long times) {
  int nothing = 0;
  for (long i = 0; i < times; ++i)
    mpi->neighbor_alltoall(&nothing, 1, MPI_INT, &nothing, 1, MPI_INT, hermits);
}

static void passed_through(void) {
  const int none = 0;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, &none, &none, 0, &none, &none, MPI_INFO_NULL, 0,
                                 &hermits);
  struct side sides[] = {{"without", call_nobody, &without, {0}}, {"with", call_nobody, &with, {0}}};
  compare("passed_through", "ns", 1e9, 20000, sides, 2);
  MPI_Comm_free(&hermits);
}

static void make_and_free(const struct mpi* mpi, long times) {
  for (long i = 0; i < times; ++i) {
    MPI_Comm fresh;
    mpi->dup(MPI_COMM_WORLD, &fresh);
    mpi->free_communicator(&fresh);
  }
}

static void make_use_and_free(const struct mpi* mpi, long times) {
  double in = 1, out;
  for (long i = 0; i < times; ++i) {
    MPI_Comm fresh;
    mpi->dup(MPI_COMM_WORLD, &fresh);
    mpi->allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, fresh);
    mpi->free_communicator(&fresh);
  }
}

static void set_up(void) {
  hocket_switch(true);
  struct side unused[] = {{"without", make_and_free, &without, {0}}, {"with", make_and_free, &with, {0}}};
  compare("communicator_unused", "us", 1e6, 20, unused, 2);
  struct side used[] = {{"without", make_use_and_free, &without, {0}},
                        {"with", make_use_and_free, &with, {0}}};
  compare("communicator_used_once", "us", 1e6, 20, used, 2);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool attached = hocket_attached() && find_library();
  if (attached) {
    hocket_switch(true);
    referee_open();
    passed_through();
    set_up();
    floors();
    referee_close();
  } else if (rank == 0) {
    fprintf(stderr, "hocket_costs: start it with hocket-exec, on an MPI library that it finds\n");
  }
  MPI_Finalize();
  return attached ? 0 : 1;
}
