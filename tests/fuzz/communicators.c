// Communicators come and go: handles are reused at once, memory is given back, orders are reversed, groups
// overlap, and freeing follows right behind a collective. With a small HOCKET_MEMORY, nothing may be left to
// the MPI for want of memory at the end.
#include "mpi/check.h"

enum { cycles = 1000, words = 3000 };

static void use(MPI_Comm comm, int salt) {
  int rank, size, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int mine = rank + salt;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size * (size - 1) / 2 + size * salt);
}

// Larger messages: what they need of the arena is given back as well.
static void use_much(MPI_Comm comm, int salt) {
  static int data[words], sums[words];
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < words; ++i) data[i] = rank + i + salt;
  MPI_Allreduce(data, sums, words, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < words; ++i) CHECK(sums[i] == size * (size - 1) / 2 + size * (i + salt));
  for (int i = 0; i < words; ++i) data[i] = rank == size - 1 ? i * salt : -1;
  MPI_Bcast(data, words, MPI_INT, size - 1, comm);
  for (int i = 0; i < words; ++i) CHECK(data[i] == i * salt);
}

static void come_and_go(void) {
  for (int k = 0; k < cycles; ++k) {
    MPI_Comm comm;
    context("cycle %d", k);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, k);
    if (k % 10 == 0) use_much(comm, k);
    MPI_Comm_free(&comm);
    if (k % 50 == 0) use(MPI_COMM_WORLD, k);
  }
}

static void many_at_once(int size) {
  enum { many = 24 };
  MPI_Comm comms[many];
  for (int k = 0; k < many; ++k) {
    const int color = k % 3 == 0 ? 0 : check_rank % 2, key = k % 2 ? size - check_rank : check_rank;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comms[k]);
  }
  for (int round = 0; round < 20; ++round)
    for (int k = 0; k < many; ++k) {
      context("round %d of communicator %d", round, k);
      use(comms[(k * 7 + round) % many], round);
    }
  for (int k = 0; k < many; ++k) MPI_Comm_free(&comms[(k * 5) % many]);
}

static void derived_from_derived(void) {
  MPI_Comm comm = MPI_COMM_WORLD, next;
  for (int depth = 0; depth < 12; ++depth) {
    MPI_Comm_dup(comm, &next);
    context("depth %d", depth);
    use(next, depth);
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);  // the parent goes first
    use_much(next, depth);
    comm = next;
  }
  MPI_Comm_free(&comm);
}

static void between_groups(int size) {
  MPI_Comm half, inter;
  int half_size, sum = 0;
  const int side = check_rank % 2, one = 1;
  MPI_Comm_split(MPI_COMM_WORLD, side, check_rank, &half);
  MPI_Comm_size(half, &half_size);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &inter);
  for (int k = 0; k < 20; ++k) {
    context("intercommunicator, round %d", k);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == size - half_size);
    int data = side == 0 && check_rank == 0 ? k : -1;
    const int root = side == 1 ? 0 : check_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(&data, 1, MPI_INT, root, inter);
    CHECK(side == 0 || data == k);
    use(half, k);
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static void check_memory(void) {
  char* text = hocket_report();
  context("%.200s", text);
  CHECK(strstr(text, "budget") == NULL);
  free(text);
}

int main(int argc, char** argv) {
  int size = 0;
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  come_and_go();
  many_at_once(size);
  derived_from_derived();
  between_groups(size);
  come_and_go();
  check_memory();
  return check_finish("communicators");
}
