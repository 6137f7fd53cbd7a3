// MPI_Finalize first calls the delete callbacks of MPI_COMM_SELF's attributes, and MPI works as ever in them:
// there non-blocking and persistent collectives, started before it, are completed by every kind of wait and
// test. Argument 1: by which.
#include "check.h"
#include "persistent_names.h"

static int size, is_called;
enum { pending = 3, length = 100000 };
static MPI_Request requests[pending];
static int sum, told, in[length], out[length];

// ---- all leave requests[] inactive
static void by_wait(void) {
  for (int i = pending - 1; i >= 0; --i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}
static void by_test(void) {
  for (int i = 0; i < pending; ++i)
    for (int done = 0; !done;) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
}
static void by_get_status(void) {
  for (int i = 0; i < pending; ++i)
    for (int done = 0; !done;) MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
  by_wait();
}
static void by_waitall(void) {
  MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
}
static void by_testall(void) {
  for (int done = 0; !done;) MPI_Testall(pending, requests, &done, MPI_STATUSES_IGNORE);
}
static void by_waitany(void) {
  for (int i = 0, index; i < pending; ++i) MPI_Waitany(pending, requests, &index, MPI_STATUS_IGNORE);
}
static void by_waitsome(void) {
  int indices[pending];
  for (int i = 0, count = 0; i < pending; i += count)
    MPI_Waitsome(pending, requests, &count, indices, MPI_STATUSES_IGNORE);
}
static void by_testsome(void) {
  int indices[pending];
  for (int i = 0, count = 0; i < pending; i += count)
    MPI_Testsome(pending, requests, &count, indices, MPI_STATUSES_IGNORE);
}

static const struct form {
  const char* name;
  void (*complete)(void);
} forms[] = {{"wait", by_wait},         {"test", by_test},        {"get_status", by_get_status},
             {"waitall", by_waitall},   {"testall", by_testall},  {"waitany", by_waitany},
             {"waitsome", by_waitsome}, {"testsome", by_testsome}};
static const struct form* form;

static int complete(MPI_Comm comm, int key, void* attribute, void* extra) {
  (void)comm, (void)key, (void)attribute, (void)extra;
  int right = 1;
  is_called = 1;
  form->complete();
  for (int i = 0; i < pending - 1; ++i) CHECK(requests[i] == MPI_REQUEST_NULL);
  for (int i = 0; i < length; ++i) right &= out[i] == size * i;
  CHECK(right && sum == size * (size - 1) / 2 && told == 12);
  MPI_Request_free(&requests[pending - 1]);
  return MPI_SUCCESS;
}

static void start(void) {
  told = check_rank == size - 1 ? 12 : 0;
  for (int i = 0; i < length; ++i) in[i] = i;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibcast(&told, 1, MPI_INT, size - 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Allreduce_init(in, out, length, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
  MPI_Start(&requests[2]);
}

int main(int argc, char** argv) {
  int key;
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i)
    if (argc > 1 && strcmp(argv[1], forms[i].name) == 0) form = &forms[i];
  if (!form) MPI_Abort(MPI_COMM_WORLD, 2);
  context("%s", form->name);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, complete, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  start();
  check_hocket(size);
  MPI_Finalize();
  CHECK(is_called);
  printf("finalize_callbacks: %ld failures\n", check_failures);
  return check_failures != 0;
}
