// Where the workers of a node run. "bound": the only rank has a CPU, its worker has others. "given": two
// workers have a CPU each of the two that HOCKET_WORKER_CPUS names.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

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

static void bind_to_one(const cpu_set_t* all) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(lowest_of(all), &one);
  CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

// The machine has no CPU beside those that share the lowest one's core.
static int is_one_core(const cpu_set_t* all) {
  char path[128], list[256] = "";
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", lowest_of(all));
  FILE* file = fopen(path, "r");
  if (file) {
    if (!fgets(list, sizeof list, file)) list[0] = '\0';
    fclose(file);
  }
  const int siblings = strpbrk(list, ",-") ? 2 : 1;
  return sysconf(_SC_NPROCESSORS_ONLN) <= siblings;
}

static cpu_set_t of_worker(int number) {
  const pid_t process = numbered_worker_process(number);
  context("worker %d", number);
  CHECK(process > 0);
  return allowed(process);
}

// An MPI may have bound the rank anew.
static void check_beside_this_rank(void) {
  const cpu_set_t own = allowed(0), set = of_worker(0);
  cpu_set_t both;
  CPU_AND(&both, &own, &set);
  context("%d CPUs for the rank, %d for its worker", CPU_COUNT(&own), CPU_COUNT(&set));
  CHECK(CPU_COUNT(&set) > 0);
  CHECK(CPU_COUNT(&own) > 1 || CPU_COUNT(&both) == 0);
}

static void check_parts(int ranks) {
  MPI_Barrier(MPI_COMM_WORLD);  // both workers have been placed
  if (ranks < 2 || check_rank != 0) return;
  const cpu_set_t first = of_worker(0), second = of_worker(1);
  cpu_set_t both;
  CPU_AND(&both, &first, &second);
  context("%d and %d CPUs", CPU_COUNT(&first), CPU_COUNT(&second));
  CHECK(CPU_COUNT(&first) == 1);
  CHECK(CPU_COUNT(&second) == 1);
  CHECK(CPU_COUNT(&both) == 0);
}

int main(int argc, char** argv) {
  const int is_bound = argc > 1 && strcmp(argv[1], "bound") == 0;
  const cpu_set_t all = allowed(0);
  if (is_bound ? is_one_core(&all) : sysconf(_SC_NPROCESSORS_ONLN) < 2) {
    printf("SKIPPED: needs two cores\n");
    return 77;
  }
  if (is_bound) bind_to_one(&all);
  check_start(&argc, &argv);
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (is_bound)
    check_beside_this_rank();
  else
    check_parts(ranks);
  return check_finish("worker_place");
}
