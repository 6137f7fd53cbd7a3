// Send and receive blocks side by side in one buffer: legal where they do not overlap, though both sides have
// the same address. Whether this MPI compares addresses decides nothing about who runs a call.
#include "mpi/check.h"

enum { block = 3 };

static int value(int from, int to, int i) {
  return 100 * from + 10 * to + i;
}

// Blocks to send in the even places, blocks received in the odd ones; rank `silent` takes no part in it.
static void exchange(int rank, int size, int silent) {
  context("%d ranks, rank %d has nothing", size, silent);
  int* work = malloc(2 * (size_t)size * block * sizeof *work);
  int *sent = calloc((size_t)size, sizeof *sent), *from = calloc((size_t)size, sizeof *from);
  int *received = calloc((size_t)size, sizeof *received), *to = calloc((size_t)size, sizeof *to);
  for (int r = 0; r < size; ++r) {
    from[r] = 2 * r * block;
    to[r] = (2 * r + 1) * block;
    sent[r] = received[r] = r == silent || rank == silent ? 0 : block;
    for (int i = 0; i < block; ++i) work[from[r] + i] = value(rank, r, i), work[to[r] + i] = -1;
  }
  MPI_Alltoallv(work, sent, from, MPI_INT, work, received, to, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < block; ++i) {
      CHECK(work[from[r] + i] == value(rank, r, i));
      CHECK(work[to[r] + i] == (received[r] ? value(r, rank, i) : -1));
    }
  free(work), free(sent), free(from), free(received), free(to);
}

// Both sides say MPI_BOTTOM, and their types hold the addresses.
static void absolute_addresses(int rank, int size, int root) {
  context("addresses in the types, root %d", root);
  int own = value(rank, root, 0), all[64];
  MPI_Aint at;
  const int one = 1;
  MPI_Datatype sent, spread, received;
  MPI_Get_address(&own, &at);
  MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &sent);
  MPI_Get_address(all, &at);
  MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &spread);
  MPI_Type_create_resized(spread, 0, sizeof(int), &received);
  MPI_Type_commit(&sent);
  MPI_Type_commit(&received);
  memset(all, -1, sizeof all);
  MPI_Gather(MPI_BOTTOM, 1, sent, MPI_BOTTOM, 1, received, root, MPI_COMM_WORLD);
  for (int r = 0; rank == root && r < size; ++r) CHECK(all[r] == value(r, root, 0));
  MPI_Allgather(MPI_BOTTOM, 1, sent, MPI_BOTTOM, 1, received, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) CHECK(all[r] == value(r, root, 0));
  MPI_Type_free(&sent);
  MPI_Type_free(&spread);
  MPI_Type_free(&received);
}

// Where MPI demands MPI_IN_PLACE: Open MPI takes it for that, MPICH refuses it unless it is told not to look.
static void aliased(int rank, int size, int root) {
  context("equal addresses, root %d", root);
  int mine = rank + 1, sum = size * (size + 1) / 2;
  MPI_Reduce(&mine, rank == root ? &mine : NULL, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  CHECK(mine == (rank == root ? sum : rank + 1));
  mine = rank + 1;
  MPI_Allreduce(&mine, &mine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(mine == sum);
}

static int aliases_are_taken(void) {
#if defined(OPEN_MPI)
  return 1;
#else
  const char* looks = getenv("MPIR_CVAR_COLL_ALIAS_CHECK");
  return looks && strcmp(looks, "0") == 0;
#endif
}

int main(int argc, char** argv) {
  int size;
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rank = check_rank;
  for (int i = 0; i < 3; ++i) {
    for (int silent = -1; silent < size; ++silent) exchange(rank, size, silent);
    for (int root = 0; root < size; ++root) absolute_addresses(rank, size, root);
    for (int root = 0; aliases_are_taken() && root < size; ++root) aliased(rank, size, root);
  }
  return check_finish("one_buffer");
}
