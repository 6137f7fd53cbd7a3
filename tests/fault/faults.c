// A program that does one thing wrong, or to which something happens; the driver (faults_test.py) judges what
// it says. Argument 1 names the case. Plain MPI: with ERRORS_RETURN where the case is "returned:...", else
// with the default handler.
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../mpi/persistent_names.h"

static int rank, size;
static int data[4096], sums[4096];

static int say(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) {
    printf("rank %d: success\n", rank);
  } else {
    MPI_Error_string(code, text, &length);
    printf("rank %d: error: %s\n", rank, text);
  }
  fflush(stdout);
  return code;
}

static int allreduce(int count) {
  for (int i = 0; i < count; ++i) data[i] = rank + i;
  const int code = MPI_Allreduce(data, sums, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; code == MPI_SUCCESS && i < count; ++i)
    if (sums[i] != size * (size - 1) / 2 + size * i) {
      printf("rank %d: wrong result at %d of %d\n", rank, i, count);
      exit(3);
    }
  return code;
}

static int many(int calls, int count) {
  for (int k = 0; k < calls; ++k) {
    const int code = allreduce(count);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

static int ends(int count) {
  const int code = many(20, count);
  if (code != MPI_SUCCESS) return code;
  if (rank == 1) raise(SIGKILL);
  return many(20, count);
}

static int stops(void) {
  if (many(20, 8) != MPI_SUCCESS) return MPI_ERR_OTHER;
  if (rank == 1) {
    char line[256];
    snprintf(line, sizeof line,
             "(for i in $(seq 300); do grep -q ') T' /proc/%d/stat && break; sleep 0.1; done; sleep 5; "
             "kill -CONT %d) >/dev/null 2>&1 </dev/null &",
             (int)getpid(), (int)getpid());
    if (system(line) != 0) return MPI_ERR_OTHER;
    raise(SIGSTOP);
  }
  return many(20, 8);
}

static int other_function(void) {
  if (rank == 1) return MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Allreduce(data, sums, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

// Rank 1 waits for rank 2, which waits for rank 0. (Two ranks that both take themselves for the root of a
// broadcast wait for nobody.)
static int other_root(int count) {
  return MPI_Bcast(data, count, MPI_INT, rank == 1 ? 2 : 0, MPI_COMM_WORLD);
}

static int other_root_of_reduce(void) {
  return MPI_Reduce(data, sums, 1, MPI_INT, MPI_SUM, rank == 1 ? 1 : 0, MPI_COMM_WORLD);
}

static int other_operation(void) {
  return MPI_Allreduce(data, sums, 1, MPI_INT, rank == 1 ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
}

static int other_size(int count) {
  return MPI_Allreduce(data, sums, rank == 1 ? count - 1 : count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static int wrong_on_one(void) {
  return MPI_Allreduce(data, sums, rank == 1 ? -1 : 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static int native_against_ours(void) {
  int counts[64] = {0}, places[64] = {0};
  MPI_Datatype types[64];
  for (int i = 0; i < 64; ++i) types[i] = MPI_INT, counts[i] = 1;
  if (rank == 1)
    return MPI_Alltoallw(data, counts, places, types, sums, counts, places, types, MPI_COMM_WORLD);
  return MPI_Allreduce(data, sums, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

// ---- non-blocking: the error comes out of the wait, or out of a test that is tried again and again
typedef int completion(MPI_Request* request);

static int wait(MPI_Request* request) {
  return MPI_Wait(request, MPI_STATUS_IGNORE);
}
static int of_all(int code, const MPI_Status* statuses, int count) {
  int class = code;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  for (int i = 0; class == MPI_ERR_IN_STATUS && i < count; ++i)
    if (statuses[i].MPI_ERROR != MPI_SUCCESS && statuses[i].MPI_ERROR != MPI_ERR_PENDING)
      return statuses[i].MPI_ERROR;
  return code;
}
static int wait_in_array(MPI_Request* request) {
  MPI_Request both[2] = {MPI_REQUEST_NULL, *request};
  MPI_Status statuses[2];
  const int code = MPI_Waitall(2, both, statuses);
  *request = both[1];
  return of_all(code, statuses, 2);
}
static int test(MPI_Request* request) {
  int done = 0, code = MPI_SUCCESS;
  while (!done && code == MPI_SUCCESS) code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
  return code;
}

static int iallreduce(int count, MPI_Op op, completion* complete) {
  MPI_Request request;
  const int code = MPI_Iallreduce(data, sums, count, MPI_INT, op, MPI_COMM_WORLD, &request);
  return code == MPI_SUCCESS ? complete(&request) : code;
}

static int ends_under_way(int count, completion* complete) {
  int code = many(1, 1);
  for (int k = 0; k < 20 && code == MPI_SUCCESS; ++k) code = iallreduce(count, MPI_SUM, complete);
  if (code == MPI_SUCCESS && rank == 1) raise(SIGKILL);
  for (int k = 0; k < 20 && code == MPI_SUCCESS; ++k) code = iallreduce(count, MPI_SUM, complete);
  return code;
}

static int other_start(completion* complete) {
  MPI_Request request;
  int code = many(1, 1);
  if (code != MPI_SUCCESS || rank != 1) return code == MPI_SUCCESS ? iallreduce(1, MPI_SUM, complete) : code;
  code = MPI_Ibarrier(MPI_COMM_WORLD, &request);
  return code == MPI_SUCCESS ? complete(&request) : code;
}

static int other_started_size(int count) {
  const int code = many(1, 1);
  return code == MPI_SUCCESS ? iallreduce(rank == 1 ? count - 1 : count, MPI_SUM, wait) : code;
}

static int other_started_operation(void) {
  const int code = many(1, 1);
  return code == MPI_SUCCESS ? iallreduce(1, rank == 1 ? MPI_MAX : MPI_SUM, wait) : code;
}

// After calls that are the same one again and again, buffers included.
static int other_than_before(void) {
  int code = many(1, 1);
  for (int k = 0; k < 20 && code == MPI_SUCCESS; ++k) code = iallreduce(1, MPI_SUM, wait);
  return code == MPI_SUCCESS ? iallreduce(1, rank == 1 ? MPI_MAX : MPI_SUM, wait) : code;
}

static int other_persistent_size(void) {
  MPI_Request request;
  int code = many(1, 1);
  if (code == MPI_SUCCESS)
    code = MPI_Allreduce_init(data, sums, rank == 1 ? 2 : 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &request);
  if (code == MPI_SUCCESS) code = MPI_Start(&request);
  return code == MPI_SUCCESS ? wait(&request) : code;
}

// Blocking and non-blocking calls do not match each other. `before`: started by all, and waited for last.
static int one_form_against_the_other(int starts, int before) {
  MPI_Request requests[4];
  static int results[4];
  int code = many(1, 1);
  for (int k = 0; k < before && code == MPI_SUCCESS; ++k)
    code = MPI_Iallreduce(data, &results[k], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[k]);
  if (code != MPI_SUCCESS) return code;
  code = starts ? iallreduce(1, MPI_SUM, wait) : allreduce(1);
  return code == MPI_SUCCESS ? MPI_Waitall(before, requests, MPI_STATUSES_IGNORE) : code;
}

// The other one of many that are under way.
static int other_one_of_many(void) {
  enum { operations = 30 };
  static int results[operations];
  MPI_Request requests[operations];
  MPI_Status statuses[operations];
  int code = many(1, 1);
  for (int k = 0; k < operations && code == MPI_SUCCESS; ++k)
    code = MPI_Iallreduce(data, &results[k], 1, MPI_INT, rank == 1 && k == 20 ? MPI_MAX : MPI_SUM,
                          MPI_COMM_WORLD, &requests[k]);
  if (code != MPI_SUCCESS) return code;
  return of_all(MPI_Waitall(operations, requests, statuses), statuses, operations);
}

static int mixed(void) {
  int code = many(50, 1);
  if (code == MPI_SUCCESS) code = many(10, 4000);
  if (code == MPI_SUCCESS) code = MPI_Barrier(MPI_COMM_WORLD);
  return code;
}

static int big(void) {
  const int count = 1 << 20;
  int* all = malloc((size_t)count * (size_t)size * sizeof *all);
  int* own = malloc((size_t)count * sizeof *own);
  for (int i = 0; i < count; ++i) own[i] = rank + i;
  int code = MPI_SUCCESS, wrong = 0;
  for (int k = 0; k < 3 && code == MPI_SUCCESS; ++k) {
    code = MPI_Allgather(own, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r) wrong += all[(size_t)r * (size_t)count + 7] != r + 7;
    code = code == MPI_SUCCESS ? many(3, 4000) : code;
  }
  free(all);
  free(own);
  if (wrong) printf("rank %d: wrong result\n", rank);
  return wrong ? MPI_ERR_OTHER : code;
}

static int run(const char* name) {
  if (!strcmp(name, "kill_small")) return ends(1);
  if (!strcmp(name, "kill_large")) return ends(4096);
  if (!strcmp(name, "stop")) return stops();
  if (!strcmp(name, "function")) return other_function();
  if (!strcmp(name, "root_small")) return other_root(1);
  if (!strcmp(name, "root_large")) return other_root(4000);
  if (!strcmp(name, "root_of_reduce")) return other_root_of_reduce();
  if (!strcmp(name, "operation")) return other_operation();
  if (!strcmp(name, "size_small")) return other_size(3);
  if (!strcmp(name, "size_large")) return other_size(4000);
  if (!strcmp(name, "wrong_on_one")) return wrong_on_one();
  if (!strcmp(name, "alltoallw")) return native_against_ours();
  if (!strcmp(name, "kill_in_wait")) return ends_under_way(1, wait);
  if (!strcmp(name, "kill_in_waitall")) return ends_under_way(4096, wait_in_array);
  if (!strcmp(name, "kill_in_test")) return ends_under_way(1, test);
  if (!strcmp(name, "kill_in_long_test")) return ends_under_way(4096, test);
  if (!strcmp(name, "start")) return other_start(wait);
  if (!strcmp(name, "start_in_array")) return other_start(wait_in_array);
  if (!strcmp(name, "start_tested")) return other_start(test);
  if (!strcmp(name, "started_size_small")) return other_started_size(3);
  if (!strcmp(name, "started_size_large")) return other_started_size(4000);
  if (!strcmp(name, "started_operation")) return other_started_operation();
  if (!strcmp(name, "started_before")) return other_than_before();
  if (!strcmp(name, "one_of_many")) return other_one_of_many();
  if (!strcmp(name, "persistent_start")) return other_persistent_size();
  if (!strcmp(name, "started_by_one")) return one_form_against_the_other(rank == 1, 0);
  if (!strcmp(name, "started_by_others")) return one_form_against_the_other(rank != 1, 0);
  if (!strcmp(name, "started_by_one_later")) return one_form_against_the_other(rank == 1, 3);
  if (!strcmp(name, "mixed")) return mixed();
  if (!strcmp(name, "big")) return big();
  fprintf(stderr, "unknown case %s\n", name);
  return MPI_ERR_OTHER;
}

// Argument 2, "returned": errors come back as codes. A rank that got one cannot know whether the others can
// still finalize.
int main(int argc, char** argv) {
  const int returned = argc > 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (returned) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = say(run(argv[1]));
  if (code != MPI_SUCCESS) {
    sleep(1);  // the others say theirs
    // Not _exit(): after it one in 240 jobs of MPICH alone goes on for ever.
    MPI_Abort(MPI_COMM_WORLD, 4);
  }
  MPI_Finalize();
  return 0;
}
