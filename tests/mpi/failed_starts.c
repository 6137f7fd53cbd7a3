// Non-blocking and persistent collectives that fail. The program's own error handler is called once for each,
// and may call MPI as it likes; what could not be started leaves nothing behind, on its communicator or on
// others. Argument 1: only the case of this name.
#include "check.h"
#include "persistent_names.h"

static int size;
static MPI_Comm beside;      // goes on working
static MPI_Request pending;  // of an operation on it, which the handler looks after
static int pending_sum;

// ---- the handler
static int calls_of_handler;
static int seen_code;
static MPI_Request* freed_by_handler;

static int sum_of_ranks(void) {
  return size * (size - 1) / 2;
}

// All ranks come here, since all of them fail.
static void start_another(void) {
  MPI_Request request;
  int sum = 0;
  MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, beside, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == sum_of_ranks());
  MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, beside);
  CHECK(sum == sum_of_ranks());
}

static void handle(MPI_Comm* comm, int* code, ...) {
  int rank = -1, done = 0;
  ++calls_of_handler;
  seen_code = *code;
  MPI_Comm_rank(*comm, &rank);
  CHECK(rank == check_rank);
  while (!done) MPI_Test(&pending, &done, MPI_STATUS_IGNORE);
  CHECK(pending_sum == sum_of_ranks());
  start_another();
  if (freed_by_handler && *freed_by_handler != MPI_REQUEST_NULL) MPI_Request_free(freed_by_handler);
}

static void expect_failure(int code, const char* what) {
  context("%s: code %d, %d calls of the handler", what, code, calls_of_handler);
  CHECK(code != MPI_SUCCESS && code == seen_code);
  CHECK(calls_of_handler == 1);
  calls_of_handler = 0;
  seen_code = MPI_SUCCESS;
}

static void begin_pending(void) {
  pending_sum = 0;
  MPI_Iallreduce(&check_rank, &pending_sum, 1, MPI_INT, MPI_SUM, beside, &pending);
}

// ---- calls on a communicator that fails
static MPI_Comm broken;
static int in[2], out[2];

static MPI_Comm with_handler(void) {
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  return comm;
}

// So that the failing call is, but for rank 1, the same once more.
static void start_before(void) {
  for (int k = 0; k < 4; ++k) {
    MPI_Request request;
    MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, broken, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

// Rank 1 has another number of elements. A rank that comes when the others have failed cannot start.
static int wrong_count(void) {
  return check_rank == 1 ? 2 : 1;
}

static int wait_for(MPI_Request* request) {
  return MPI_Wait(request, MPI_STATUS_IGNORE);
}
static int test_for(MPI_Request* request) {
  int done = 0, code = MPI_SUCCESS;
  while (!done && code == MPI_SUCCESS) code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
  return code;
}
static int wait_for_all(MPI_Request* request) {
  MPI_Request both[2] = {MPI_REQUEST_NULL, *request};
  MPI_Status statuses[2];
  const int code = MPI_Waitall(2, both, statuses);
  *request = both[1];
  CHECK(code == MPI_ERR_IN_STATUS);
  return statuses[1].MPI_ERROR;
}
static int wait_for_any(MPI_Request* request) {
  int index = -1;
  const int code = MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
  CHECK(index == 0);
  return code;
}

static void fail_under_way(int (*complete)(MPI_Request*), const char* what) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Iallreduce(in, out, wrong_count(), MPI_INT, MPI_SUM, broken, &request);
  expect_failure(code == MPI_SUCCESS ? complete(&request) : code, what);
  CHECK(request == MPI_REQUEST_NULL);
}

static MPI_Request persistent;  // on the broken communicator, made while it worked
static void fail_persistently(int (*complete)(MPI_Request*), const char* what) {
  MPI_Request request;
  MPI_Allreduce_init(in, out, wrong_count(), MPI_INT, MPI_SUM, broken, MPI_INFO_NULL, &request);
  MPI_Barrier(beside);
  const int code = MPI_Start(&request);
  expect_failure(code == MPI_SUCCESS ? complete(&request) : code, what);
  MPI_Request_free(&request);
}

// The wait finds nothing to wait for any more.
static void fail_and_be_freed(int (*complete)(MPI_Request*), const char* what) {
  MPI_Request request = MPI_REQUEST_NULL;
  freed_by_handler = &request;
  if (MPI_Iallreduce(in, out, wrong_count(), MPI_INT, MPI_SUM, broken, &request) == MPI_SUCCESS)
    complete(&request);
  freed_by_handler = NULL;
  CHECK(request == MPI_REQUEST_NULL);
  expect_failure(seen_code, what);
}

// In one array with a persistent one that works.
static void fail_beside_a_persistent_one(int (*complete)(MPI_Request*), const char* what) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  int sum = 0;
  MPI_Allreduce_init(&check_rank, &sum, 1, MPI_INT, MPI_SUM, beside, MPI_INFO_NULL, &requests[0]);
  MPI_Start(&requests[0]);
  int code = MPI_Iallreduce(in, out, wrong_count(), MPI_INT, MPI_SUM, broken, &requests[1]);
  if (code == MPI_SUCCESS) {
    CHECK(MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS);
    CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS);
    code = statuses[1].MPI_ERROR;
  } else {
    complete(&requests[0]);
  }
  expect_failure(code, what);
  CHECK(requests[1] == MPI_REQUEST_NULL);
  CHECK(sum == sum_of_ranks());
  MPI_Request_free(&requests[0]);
}

// Nothing can be started on it any more; nothing of what was tried is left.
static void fail_to_start(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  begin_pending();
  expect_failure(MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, broken, &request), "start");
  CHECK(request == MPI_REQUEST_NULL);
  begin_pending();
  expect_failure(MPI_Start(&persistent), "persistent start");
  int done = 0;
  CHECK(MPI_Test(&persistent, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done);
  begin_pending();
  expect_failure(MPI_Bcast_init(out, 1, MPI_INT, 0, broken, MPI_INFO_NULL, &request), "init");
  CHECK(request == MPI_REQUEST_NULL);
  begin_pending();
  expect_failure(MPI_Barrier(broken), "blocking call");
}

static void others_work(void) {
  MPI_Request requests[3];
  int sum = 0, told = check_rank == 0 ? 12 : 0;
  context("afterwards");
  MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibcast(&told, 1, MPI_INT, 0, beside, &requests[1]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  CHECK(sum == sum_of_ranks() && told == 12);
}

static const struct {
  const char* name;
  void (*fail)(int (*complete)(MPI_Request*), const char* what);
  int (*complete)(MPI_Request*);
} cases[] = {
    {"wait", fail_under_way, wait_for},
    {"test", fail_under_way, test_for},
    {"waitall", fail_under_way, wait_for_all},
    {"waitany", fail_under_way, wait_for_any},
    {"freed_in_wait", fail_and_be_freed, wait_for},
    {"freed_in_test", fail_and_be_freed, test_for},
    {"beside_persistent", fail_beside_a_persistent_one, wait_for},
    {"persistent_wait", fail_persistently, wait_for},
    {"persistent_test", fail_persistently, test_for},
    {"persistent_waitall", fail_persistently, wait_for_all},
    {"persistent_waitany", fail_persistently, wait_for_any},
};

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &beside);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (argc > 1 && strcmp(argv[1], cases[i].name) != 0) continue;
    broken = with_handler();
    MPI_Allreduce_init(in, out, 1, MPI_INT, MPI_SUM, broken, MPI_INFO_NULL, &persistent);
    start_before();
    MPI_Barrier(beside);
    begin_pending();
    cases[i].fail(cases[i].complete, cases[i].name);
    fail_to_start();
    others_work();
    MPI_Request_free(&persistent);
    MPI_Comm_free(&broken);
  }
  MPI_Comm_free(&beside);
  return check_finish("failed_starts");
}
