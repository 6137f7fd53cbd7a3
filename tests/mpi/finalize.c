// MPI_Finalize directly after operations have completed, while a session is still open: what they have left
// of themselves ends in the right order. Argument 1, "used": the session's communicator is used afterwards.
#include "check.h"
#include "persistent_names.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
enum { long_vector = 100000 };
static int size;
static int in[long_vector], out[long_vector], persistent_out[long_vector];

static int is_sum(const int* data) {
  int right = 1;
  for (int i = 0; i < long_vector; ++i) right &= data[i] == size * (size - 1) / 2 + size * i;
  return right;
}

static void run(MPI_Comm comm, const char* name) {
  MPI_Request requests[3];
  int told = check_rank == 0 ? 12 : 0;
  context("%s", name);
  for (int i = 0; i < long_vector; ++i) in[i] = check_rank + i;
  MPI_Barrier(comm);
  MPI_Allreduce_init(in, persistent_out, long_vector, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
  MPI_Start(&requests[0]);
  MPI_Iallreduce(in, out, long_vector, MPI_INT, MPI_SUM, comm, &requests[1]);
  MPI_Ibcast(&told, 1, MPI_INT, 0, comm, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  CHECK(is_sum(persistent_out) && is_sum(out) && told == 12);
  MPI_Request_free(&requests[0]);
}

// What is kept for the next one is MPI_COMM_WORLD's.
static void run_same_again(MPI_Comm comm) {
  MPI_Barrier(comm);
  for (int k = 0; k < 4; ++k) {
    MPI_Request request;
    int sum = -1;
    MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == size * (size - 1) / 2);
  }
}

int main(int argc, char** argv) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  check_start(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  run_same_again(MPI_COMM_WORLD);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "finalize", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  run(comm, "the session's communicator");
  run(MPI_COMM_WORLD, "MPI_COMM_WORLD");
  check_hocket(size);
  MPI_Finalize();
  if (argc > 1 && strcmp(argv[1], "used") == 0) run(comm, "the session's communicator, afterwards");
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  printf("finalize: %ld failures\n", check_failures);
  return check_failures != 0;
}
#else
int main(void) {
  printf("SKIPPED: this MPI has no sessions\n");
  return 77;
}
#endif
