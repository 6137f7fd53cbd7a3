// One collective again and again, until the time is over or something happens to it, on which every rank says
// what it got. Plain MPI. Arguments: allreduce, iallreduce or alltoall; the bytes of a vector or block; for
// how many seconds; "returned": errors come back as codes, else the default handler ends the job.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static char *out, *in;

static int once(const char* name, int bytes) {
  MPI_Request request;
  if (!strcmp(name, "alltoall"))
    return MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
  if (!strcmp(name, "allreduce")) return MPI_Allreduce(out, in, bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const int code = MPI_Iallreduce(out, in, bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

static void say(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "rank %d: error: %s\n", rank, text);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = atoi(argv[2]);
  const double seconds = atof(argv[3]);
  if (argc > 4) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  out = calloc((size_t)size, (size_t)bytes);
  in = calloc((size_t)size, (size_t)bytes);
  int code = MPI_SUCCESS;
  const double began = MPI_Wtime();
  for (int calls = 0, late = 0; code == MPI_SUCCESS && !late; ++calls) {
    if (calls == 10 && rank == 0) fprintf(stderr, "under way\n");
    code = once(argv[1], bytes);
    const int mine = rank == 0 && MPI_Wtime() - began > seconds;  // rank 0's clock decides for all
    if (code == MPI_SUCCESS) code = MPI_Allreduce(&mine, &late, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  if (code != MPI_SUCCESS) {
    say(code);
    sleep(3);  // the others say theirs
    _exit(4);
  }
  MPI_Finalize();
  free(out);
  free(in);
  return 0;
}
