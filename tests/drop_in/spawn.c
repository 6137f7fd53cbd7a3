// A job that spawns another: the children inherit Hocket, have a world of their own, and talk to the parents
// through an intercommunicator, whose collectives are the MPI's.
#include "mpi/check.h"

static void check_world(void) {
  int size = 0, sum = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int k = 0; k < 30; ++k) {
    const int own = check_rank + k;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2 + size * k);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Over the intercommunicator each side gets the other's sum; over the merged one all get both.
static void check_both(MPI_Comm inter, int is_child) {
  int here = 0, there = 0, sum = 0, merged_size = 0, merged_rank = 0;
  MPI_Comm merged;
  const int one = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &here);
  MPI_Comm_remote_size(inter, &there);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
  CHECK(sum == there);
  MPI_Intercomm_merge(inter, is_child, &merged);
  MPI_Comm_size(merged, &merged_size);
  MPI_Comm_rank(merged, &merged_rank);
  CHECK(merged_size == here + there);
  for (int k = 0; k < 10; ++k) {
    MPI_Allreduce(&merged_rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK(sum == merged_size * (merged_size - 1) / 2);
  }
  MPI_Comm_free(&merged);
}

int main(int argc, char** argv) {
  MPI_Comm parent, children;
  check_start(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  const int is_child = parent != MPI_COMM_NULL;
  check_world();
  if (!is_child)
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
  check_both(is_child ? parent : children, is_child);
  check_world();
  MPI_Comm_disconnect(is_child ? &parent : &children);
  return check_finish(is_child ? "spawned" : "spawn");
}
