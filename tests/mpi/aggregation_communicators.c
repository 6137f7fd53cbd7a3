// A thousand communicators, each with some collectives that the network reduces: many more than a tree has
// groups for. Most are freed, some stay, and are used again. Results are right, and memory does not grow.
#include <unistd.h>

#include "check.h"

enum { rounds = 10, of_round = 100, kept_of_round = 4, kept_in_all = rounds * kept_of_round };

static MPI_Comm kept[kept_in_all];
static int kept_count;

static void use(MPI_Comm comm, int salt) {
  int rank, size, count = 1 + salt % 300;
  double in[300], out[300];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < count; ++i) in[i] = rank + salt + i;
  for (int call = 0; call < 3; ++call) {
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
    int right = 1;
    for (int i = 0; i < count; ++i) right &= out[i] == size * (salt + i) + size * (size - 1) / 2.0;
    CHECK(right);
  }
}

static MPI_Comm new_communicator(int number) {
  MPI_Comm comm;
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (number % 3 == 0)
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  else if (number % 3 == 1)
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comm);
  else
    MPI_Comm_split(MPI_COMM_WORLD, check_rank < size / 2, check_rank, &comm);
  return comm;
}

// Pages that are there; of Linux.
static long resident_bytes(void) {
  long pages = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static void run_round(int round) {
  for (int i = 0; i < of_round; ++i) {
    context("communicator %d of round %d", i, round);
    MPI_Comm comm = new_communicator(i);
    use(comm, round * of_round + i);
    if (i < kept_of_round)
      kept[kept_count++] = comm;
    else
      MPI_Comm_free(&comm);
    if (i % 10 == 0) use(MPI_COMM_WORLD, i);
  }
  context("those that were kept, in round %d", round);
  for (int i = 0; i < kept_count; ++i) use(kept[i], i);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  long after_two = 0;
  for (int round = 0; round < rounds; ++round) {
    run_round(round);
    if (round == 1) after_two = resident_bytes();
  }
  const long grown = resident_bytes() - after_two;
  context("grown by %ld bytes", grown);
  CHECK(grown < 16L << 20);  // those that are kept need some
  if (check_rank == 0)
    printf("%d communicators, %d kept; grown by %ld bytes\n", rounds * of_round, kept_count, grown);
  for (int i = 0; i < kept_count; ++i) MPI_Comm_free(&kept[i]);
  if (check_rank == 0) {
    char* text = hocket_report();
    for (char* line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
      if (strstr(line, "network")) printf("%s\n", line);
    free(text);
  }
  return check_finish("aggregation_communicators");
}
