// What calls run is decided and planned once, and used again by calls of the same signature, in all three
// forms. Only so many plans are kept: older ones are given up, and made again when their call comes back. The
// counts are those of the report.
#include "check.h"
#include "persistent_names.h"

enum { calls = 50, more_than_are_kept = 300 };

struct plans {
  long made, used_again, given_up;
};

// Of this rank, so far.
static struct plans plans(void) {
  struct plans found = {0, 0, 0};
  char* report = hocket_report();
  for (const char* line = report; line; line = strchr(line + 1, '\n'))
    if (sscanf(line, " note: %ld plans made, used again by %ld calls, %ld given up", &found.made,
               &found.used_again, &found.given_up) == 3)
      break;
  free(report);
  return found;
}

static int sum_of_ranks(void) {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size * (size - 1) / 2;
}

static void blocking(void) {
  for (int i = 0; i < calls; ++i) {
    int sum = -1;
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == sum_of_ranks());
  }
}

static void nonblocking(void) {
  for (int i = 0; i < calls; ++i) {
    int sum = -1;
    MPI_Request request;
    MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == sum_of_ranks());
  }
}

static void persistent(void) {
  int sum = -1;
  MPI_Request request;
  MPI_Allreduce_init(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < calls; ++i) {
    sum = -1;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == sum_of_ranks());
  }
  MPI_Request_free(&request);
}

static void is_planned_once(const char* form, void (*run)(void)) {
  const struct plans before = plans();
  run();
  const struct plans after = plans();
  context("%s: %ld plans made, used again by %ld calls", form, after.made - before.made,
          after.used_again - before.used_again);
  CHECK(!hocket_is_required() || after.made - before.made == 1);
  CHECK(!hocket_is_required() || after.used_again - before.used_again == calls - 1);  // none by the MPI
}

static void tell_of(int bytes, int turn) {
  static char data[more_than_are_kept];
  const int root = 0;
  memset(data, check_rank == root ? turn + bytes : 0, (size_t)bytes);
  MPI_Bcast(data, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
  int right = 1;
  for (int i = 0; i < bytes; ++i) right &= data[i] == (char)(turn + bytes);
  CHECK(right);
}

static void older_ones_are_given_up(void) {
  const struct plans before = plans();
  for (int turn = 0; turn < 3; ++turn)
    for (int bytes = 1; bytes <= more_than_are_kept; ++bytes) tell_of(bytes, turn);
  const struct plans after = plans();
  const long made = after.made - before.made, given_up = after.given_up - before.given_up;
  context("%d signatures, three times: %ld plans made, %ld given up", more_than_are_kept, made, given_up);
  CHECK(!hocket_is_required() || made >= more_than_are_kept);
  CHECK(!hocket_is_required() || given_up > 0);
  CHECK(made - given_up < more_than_are_kept);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  is_planned_once("blocking", blocking);
  is_planned_once("non-blocking", nonblocking);
  is_planned_once("persistent", persistent);
  older_ones_are_given_up();
  return check_finish("plan_reuse");
}
