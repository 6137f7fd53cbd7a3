// Where the workers of a node run. "bound": the only rank has a CPU, its worker all others. "given": two workers
// have a CPU each of those that HOCKET_WORKER_CPUS names, if there are two.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <string.h>

#include "check.h"
#include "worker_process.h"

static cpu_set_t allowed(pid_t process) {
  cpu_set_t set;
  CPU_ZERO(&set);
  context("affinity of process %d", (int)process);
  CHECK(sched_getaffinity(process, sizeof set, &set) == 0);
  return set;
}

static int lowest_of(const cpu_set_t* set) {
  int cpu = 0;
  while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, set)) ++cpu;
  return cpu;
}

static int bind_to_one(void) {
  const cpu_set_t all = allowed(0);
  const int own = lowest_of(&all);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(own, &one);
  CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
  return own;
}

static void check_beside(int own) {
  const cpu_set_t set = allowed(worker_process());
  context("rank on %d, %d CPUs for its worker", own, CPU_COUNT(&set));
  CHECK(CPU_COUNT(&set) > 0);
  CHECK(!CPU_ISSET(own, &set));
}

static void check_parts(int ranks) {
  MPI_Barrier(MPI_COMM_WORLD); // both workers have been placed
  if (ranks < 2 || check_rank != 0) return;
  const cpu_set_t first = allowed(numbered_worker_process(0)), second = allowed(numbered_worker_process(1));
  cpu_set_t both;
  CPU_AND(&both, &first, &second);
  context("%d and %d CPUs", CPU_COUNT(&first), CPU_COUNT(&second));
  CHECK(CPU_COUNT(&first) == 1);
  CHECK(CPU_COUNT(&second) == 1);
  CHECK(CPU_COUNT(&both) == 0);
}

int main(int argc, char** argv) {
  const int is_bound = argc > 1 && strcmp(argv[1], "bound") == 0;
  const int own = is_bound ? bind_to_one() : 0;
  check_start(&argc, &argv);
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (is_bound)
    check_beside(own);
  else
    check_parts(ranks);
  return check_finish("worker_place");
}
