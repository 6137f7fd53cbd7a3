// One wrong call, the same on all ranks, with MPI_ERRORS_RETURN; prints the error class.
// invalid_arguments_test.py compares what this says with and without Hocket: argument 1 is the number of the
// case; without arguments, it prints how many there are.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char** argv) {
  static const char* const texts[] = {
#define TEXT(expression) #expression,
      CASES(TEXT)};
  const int cases = (int)(sizeof texts / sizeof *texts);
  if (argc < 2) return printf("%d\n", cases) < 0;
  const int number = (int)strtol(argv[1], NULL, 10);
  int rank = 0, error_class = MPI_SUCCESS;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int code = call(number);
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  // Collectives work afterwards.
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, WORLD);
  printf("%s: rank %d: %s, then %s\n", texts[number], rank, name_of(error_class),
         sum == size ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
