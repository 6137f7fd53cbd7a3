// Wrong calls, each the same on all ranks, with MPI_ERRORS_RETURN; prints their error classes.
// invalid_arguments_test.py compares what this says with and without Hocket: argument 1 is the folder that
// each rank's answers go to, argument 2 how many seconds a case may take, the others are the numbers of the
// cases; without arguments, it prints the cases.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int in[64], out[64], size;
static int counts[8] = {1, 1, 1, 1, 1, 1, 1, 1}, negative[8] = {1, -1, 1, 1, 1, 1, 1, 1}, places[8];
static double x, y;

#define WORLD MPI_COMM_WORLD
#define CASES(CASE)                                                                         \
  CASE(MPI_Bcast(in, -1, MPI_INT, 0, WORLD))                                                \
  CASE(MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, WORLD))                                       \
  CASE(MPI_Bcast(in, 1, MPI_INT, size, WORLD))                                              \
  CASE(MPI_Bcast(in, 1, MPI_INT, -5, WORLD))                                                \
  CASE(MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_NULL))                                         \
  CASE(MPI_Bcast(NULL, 0, MPI_INT, 0, WORLD))                                               \
  CASE(MPI_Allreduce(in, out, -1, MPI_INT, MPI_SUM, WORLD))                                 \
  CASE(MPI_Allreduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, WORLD))                        \
  CASE(MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, WORLD))                              \
  CASE(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_BAND, WORLD))                               \
  CASE(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_MINLOC, WORLD))                             \
  CASE(MPI_Allreduce(in, out, 1, MPI_BYTE, MPI_SUM, WORLD))                                 \
  CASE(MPI_Allreduce(in, out, 1, MPI_INT, MPI_REPLACE, WORLD))                              \
  CASE(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL))                          \
  CASE(MPI_Allreduce(in, in, 1, MPI_INT, MPI_SUM, WORLD))                                   \
  CASE(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, WORLD))                               \
  CASE(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, size, WORLD))                               \
  CASE(MPI_Reduce(in, out, -2, MPI_INT, MPI_SUM, 0, WORLD))                                 \
  CASE(MPI_Gather(in, -1, MPI_INT, out, -1, MPI_INT, 0, WORLD))                             \
  CASE(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, size, WORLD))                            \
  CASE(MPI_Gather(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, 0, WORLD))                     \
  CASE(MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, -1, WORLD))                             \
  CASE(MPI_Scatter(in, -1, MPI_INT, out, -1, MPI_INT, 0, WORLD))                            \
  CASE(MPI_Allgather(in, -1, MPI_INT, out, -1, MPI_INT, WORLD))                             \
  CASE(MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, WORLD))                     \
  CASE(MPI_Alltoall(in, -1, MPI_INT, out, -1, MPI_INT, WORLD))                              \
  CASE(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_NULL))                        \
  CASE(MPI_Alltoallv(in, negative, places, MPI_INT, out, negative, places, MPI_INT, WORLD)) \
  CASE(MPI_Allgatherv(in, 1, MPI_INT, out, negative, places, MPI_INT, WORLD))               \
  CASE(MPI_Reduce_scatter(in, out, negative, MPI_INT, MPI_SUM, WORLD))                      \
  CASE(MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_OP_NULL, WORLD))                    \
  CASE(MPI_Reduce_scatter_block(in, out, -1, MPI_INT, MPI_SUM, WORLD))                      \
  CASE(MPI_Scan(in, out, -1, MPI_INT, MPI_SUM, WORLD))                                      \
  CASE(MPI_Scan(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, WORLD))                             \
  CASE(MPI_Exscan(in, out, 1, MPI_INT, MPI_OP_NULL, WORLD))                                 \
  CASE(MPI_Barrier(MPI_COMM_NULL))                                                          \
  CASE(MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL))

static int call(int number) {
  int k = 0;
#define TRY(expression) \
  if (number == k++) return expression;
  CASES(TRY)
  return -1;
}

static const char* name_of(int error_class) {
  static const struct {
    int value;
    const char* name;
  } names[] = {{MPI_SUCCESS, "MPI_SUCCESS"},   {MPI_ERR_COUNT, "MPI_ERR_COUNT"},
               {MPI_ERR_TYPE, "MPI_ERR_TYPE"}, {MPI_ERR_COMM, "MPI_ERR_COMM"},
               {MPI_ERR_ROOT, "MPI_ERR_ROOT"}, {MPI_ERR_OP, "MPI_ERR_OP"},
               {MPI_ERR_ARG, "MPI_ERR_ARG"},   {MPI_ERR_BUFFER, "MPI_ERR_BUFFER"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (names[i].value == error_class) return names[i].name;
  return "another";
}

// A file, written line by line: what a rank has said is kept when a later case ends it.
static FILE* answers_of(int rank, const char* folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", folder, rank);
  FILE* file = fopen(path, "w");
  if (!file) MPI_Abort(WORLD, 2);
  setvbuf(file, NULL, _IOLBF, BUFSIZ);
  return file;
}

static void run_case(int number, unsigned seconds, FILE* answers) {
  int error_class = MPI_SUCCESS;
  alarm(seconds);  // an MPI that does not check its arguments may wait for something that never comes
  const int code = call(number);
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  // Collectives work afterwards.
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, WORLD);
  alarm(0);
  fprintf(answers, "%d %s, then %s\n", number, name_of(error_class), sum == size ? "right" : "wrong");
}

int main(int argc, char** argv) {
  static const char* const texts[] = {
#define TEXT(expression) #expression,
      CASES(TEXT)};
  if (argc < 3) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) puts(texts[i]);
    return 0;
  }
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  FILE* answers = answers_of(rank, argv[1]);
  for (int i = 3; i < argc; ++i)
    run_case((int)strtol(argv[i], NULL, 10), (unsigned)strtoul(argv[2], NULL, 10), answers);
  fclose(answers);
  MPI_Finalize();
  return 0;
}
