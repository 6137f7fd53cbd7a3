// Communicators made in every way that a program can: each one works, and children of children do.
#include "check.h"

static void works(MPI_Comm comm, const char* how) {
  if (comm == MPI_COMM_NULL) return;
  int rank, size, sum = 0, gathered[64];
  context("%s", how);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size * (size - 1) / 2);
  MPI_Allgather(&rank, 1, MPI_INT, gathered, 1, MPI_INT, comm);
  for (int r = 0; r < size; ++r) CHECK(gathered[r] == r);
  MPI_Barrier(comm);
}

static void used_up(MPI_Comm comm, const char* how) {
  MPI_Comm child;
  if (comm == MPI_COMM_NULL) return;
  works(comm, how);
  MPI_Comm_dup(comm, &child);
  works(child, how);
  MPI_Comm_free(&child);
  MPI_Comm_free(&comm);
}

// The group of every other rank, and a communicator of it alone.
static void test_groups(int rank, int size) {
  MPI_Group world, part;
  MPI_Comm comm;
  int range[1][3] = {{rank % 2, size - 1, 2}};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, range, &part);
  MPI_Comm_create(MPI_COMM_WORLD, part, &comm);
  used_up(comm, "create");
  for (int k = 0; k < 3; ++k) {
    MPI_Comm_create_group(MPI_COMM_WORLD, part, k % 2, &comm);
    used_up(comm, "create_group");
  }
  if (rank % 2 == 0) {  // only some take part: counts of the others must not matter
    MPI_Comm_create_group(MPI_COMM_WORLD, part, 7, &comm);
    used_up(comm, "create_group of some");
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  used_up(comm, "dup after create_group of some");
  MPI_Group_free(&part);
  MPI_Group_free(&world);
}

static void test_topologies(int rank, int size) {
  int dims[2] = {0, 0}, periods[2] = {1, 0}, remain[2] = {0, 1};
  MPI_Comm cart, row, graph;
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart);
  works(cart, "cart");
  MPI_Cart_sub(cart, remain, &row);
  used_up(row, "cart_sub");
  MPI_Comm_free(&cart);
  const int from = (rank + size - 1) % size, to = (rank + 1) % size, weight = 1;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, &weight, 1, &to, &weight, MPI_INFO_NULL, 0,
                                 &graph);
  int received = -1;
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, &received, 1, MPI_INT, graph);
  CHECK(received == from);
  used_up(graph, "dist_graph");
}

static void scan(MPI_Comm comm, const char* how) {
  int rank, sum = 0;
  context("%s", how);
  MPI_Comm_rank(comm, &rank);
  MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == rank * (rank + 1) / 2);
}

static void test_others(int rank, int size) {
  MPI_Comm comm, local, inter;
  MPI_Request request;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &comm);
  used_up(comm, "split_type");
  MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  scan(comm, "idup");
  used_up(comm, "idup");
  MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);  // freed as it is, so that its handle is used again
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
  MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_dup(comm, &local);  // a child before the first collective
  scan(local, "child of an idup");
  MPI_Comm_free(&local);
  MPI_Comm_free(&comm);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &comm);
  used_up(comm, "split with undefined");
  if (size < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
  int other = 0, expected = rank % 2 ? (size + 1) / 2 : size / 2;
  const int one = 1;
  MPI_Allreduce(&one, &other, 1, MPI_INT, MPI_SUM, inter);
  context("intercommunicator");
  CHECK(other == expected);
  MPI_Barrier(inter);
  MPI_Intercomm_merge(inter, rank % 2, &comm);
  int before = 0;
  MPI_Exscan(&one, &before, 1, MPI_INT, MPI_SUM, comm);
  used_up(comm, "merge");
  MPI_Comm_free(&inter);
  MPI_Comm_disconnect(&local);
}

// Nothing else here calls MPI_Scan and MPI_Exscan.
static void test_report(void) {
  char* text = hocket_report();
  context("report: %s", text);
  for (char* line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    line += strspn(line, " ");
    if (!strncmp(line, "scan ", 5)) CHECK(!strstr(line, "native"));
    if (!strncmp(line, "exscan ", 7)) CHECK(strstr(line, "made by MPI_Intercomm_merge"));
  }
  free(text);
}

int main(int argc, char** argv) {
  int size;
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int k = 0; k < 5; ++k) {
    test_groups(check_rank, size);
    test_topologies(check_rank, size);
    test_others(check_rank, size);
  }
  if (size > 1) test_report();
  return check_finish("communicators");
}
