// Wrong arguments raise the MPI's own error classes, with and without Hocket, and the communicator works
// afterwards. Only calls that are wrong on all ranks alike.
#include "check.h"
#include "persistent_names.h"

static int class_of(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

static void expect(int code, int a, int b, const char* what) {
  const int found = class_of(code);
  context("%s: class %d, expected %d or %d", what, found, a, b);
  CHECK(found == a || found == b);
}

// Nothing of them is started, and what is started afterwards is as if they had not been tried.
static void wrong_starts(int size) {
  MPI_Request request = MPI_REQUEST_NULL, requests[2];
  int one = 1, sum = 0, told = check_rank == 0 ? 12 : 0, data[4] = {0};
  for (int again = 0; again < 3; ++again) {
    expect(MPI_Ibcast(data, -1, MPI_INT, 0, MPI_COMM_WORLD, &request), MPI_ERR_COUNT, MPI_ERR_COUNT,
           "negative count, non-blocking");
    expect(MPI_Ireduce(&one, data, 1, MPI_INT, MPI_SUM, size, MPI_COMM_WORLD, &request), MPI_ERR_ROOT,
           MPI_ERR_ROOT, "root too high, non-blocking");
    expect(MPI_Bcast_init(data, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
           MPI_ERR_TYPE, MPI_ERR_TYPE, "null type, persistent");
    CHECK(request == MPI_REQUEST_NULL);
  }
  context("started afterwards");
  CHECK(MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]) ==
        MPI_SUCCESS);
  CHECK(MPI_Ibcast(&told, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]) == MPI_SUCCESS);
  CHECK(MPI_Start(&requests[0]) == MPI_SUCCESS);
  CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  CHECK(sum == size && told == 12);
  MPI_Request_free(&requests[0]);
}

int main(int argc, char** argv) {
  int size, sum = 0;
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int one = 1, data[64] = {0};

  expect(MPI_Bcast(data, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT, MPI_ERR_COUNT, "negative count");
  expect(MPI_Bcast(data, 1, MPI_INT, size, MPI_COMM_WORLD), MPI_ERR_ROOT, MPI_ERR_ROOT, "root too high");
  expect(MPI_Bcast(data, 1, MPI_INT, -1, MPI_COMM_WORLD), MPI_ERR_ROOT, MPI_ERR_ROOT, "negative root");
  expect(MPI_Bcast(data, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, MPI_ERR_TYPE, "null type");
  expect(MPI_Allreduce(&one, data, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP, MPI_ERR_OP,
         "null op");
  expect(MPI_Allreduce(&one, data, -3, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT, MPI_ERR_COUNT,
         "negative count");
  if (size > 1) {  // with one rank an MPI may take a shortcut
    double x = 1, y = 0;
    expect(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP, MPI_ERR_OP,
           "bits of a double");
  }
  wrong_starts(size);
  context("afterwards");
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK(sum == size);
  return check_finish("errors");
}
