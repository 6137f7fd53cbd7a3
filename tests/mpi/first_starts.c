// MPI_COMM_WORLD's own non-blocking collectives in a program that has not called a blocking one on it: after
// a communicator has been made from it by a blocking call, they are Hocket's on all ranks, and the MPI's
// before. Argument 1: how the communicator is made.
#include "check.h"

static int size;

static void dup(void) {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_free(&made);
}

static void idup(void) {
  MPI_Comm made;
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&made);
}

// Rank 0 is not in the new communicator.
static void split(void) {
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, check_rank == 0 ? MPI_UNDEFINED : 1, 0, &made);
  CHECK((made == MPI_COMM_NULL) == (check_rank == 0));
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
}

static void create(void) {
  static const int nobody[1] = {0};
  MPI_Comm made;
  MPI_Group world, others;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_excl(world, 1, nobody, &others);
  MPI_Comm_create(MPI_COMM_WORLD, others, &made);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  MPI_Group_free(&others);
  MPI_Group_free(&world);
}

static void topology(void) {
  static const int periods[1] = {0};
  const int ranks[1] = {size - 1};
  MPI_Comm made;
  MPI_Cart_create(MPI_COMM_WORLD, 1, ranks, periods, 0, &made);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
}

static const struct {
  const char* name;
  void (*make)(void);
  int meets;  // all ranks are together in it
} makings[] = {{"dup", dup, 1},
               {"idup", idup, 0},
               {"split", split, 1},
               {"create", create, 1},
               {"topology", topology, 1}};

static int own_iallreduces(void) {
  char* text = hocket_report();
  int rows = 0;
  for (char* line = text ? strtok(text, "\n") : NULL; line; line = strtok(NULL, "\n"))
    rows += strncmp(line, "iallreduce ", 11) == 0 && names_own_algorithm(line);
  free(text);
  return rows;
}

static void starts(int are_own) {
  enum { n = 5 };
  MPI_Request requests[n];
  int sums[n];
  for (int k = 0; k < n; ++k)
    MPI_Iallreduce(&check_rank, &sums[k], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[k]);
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < n; ++k) CHECK(sums[k] == size * (size - 1) / 2);
  CHECK((own_iallreduces() != 0) == (are_own && size > 1));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* name = argc > 1 ? argv[1] : "dup";
  context("%s", name);
  starts(0);
  for (size_t i = 0; i < sizeof makings / sizeof *makings; ++i) {
    if (strcmp(name, makings[i].name) != 0) continue;
    makings[i].make();
    starts(makings[i].meets);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  starts(1);
  return check_finish("first_starts");
}
