/* What is refused, and what breaks: the same error on all ranks, in a bounded time. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "areas.h"
#include "calls.h"

static int allreduce(struct sharp_coll_comm* comm, size_t bytes, enum sharp_aggregation_mode mode) {
  char* const data = calloc(bytes, 1);
  struct sharp_coll_reduce_spec spec = {.sbuf_desc = buffer_of(data, bytes),
                                        .rbuf_desc = buffer_of(data, bytes),
                                        .dtype = SHARP_DTYPE_INT8,
                                        .op = SHARP_OP_SUM,
                                        .aggr_mode = mode};
  const int code = sharp_coll_do_allreduce(comm, &spec);
  free(data);
  return code;
}

static void words(void) {
  char text[4096] = "";
  FILE* const stream = fmemopen(text, sizeof text, "w");
  CHECK_OK(sharp_coll_print_config(stream, SHARP_COLL_CONFIG_PRINT_ALL, NULL));
  fclose(stream);
  CHECK(strstr(text, "HOCKET_SWITCH=127.0.0.1:") && strstr(text, "SHARP_COLL_SAT_THRESHOLD=16384\n"));
  for (int code = -25; code < 3; ++code) CHECK(strlen(sharp_coll_strerror(code)) > 0);
}

/* What comes of a specification with a change. */
#define CHECK_WRONG(function, change, code)      \
  do {                                           \
    struct sharp_coll_reduce_spec wrong = right; \
    wrong.change;                                \
    CHECK_CODE(function(comm, &wrong), code);    \
  } while (0)

void wrong_arguments(void) {
  struct sharp_coll_context* const context = open_context();
  struct sharp_coll_comm* const comm = open_communicator(context, &world);
  int data = 0;
  struct sharp_coll_reduce_spec right = {.sbuf_desc = buffer_of(&data, 4),
                                         .rbuf_desc = buffer_of(&data, 4),
                                         .dtype = SHARP_DTYPE_INT,
                                         .op = SHARP_OP_SUM};
  CHECK_CODE(sharp_coll_do_allreduce(NULL, &right), SHARP_COLL_EINVAL);
  CHECK_CODE(sharp_coll_do_allreduce(comm, NULL), SHARP_COLL_EINVAL);
  CHECK_CODE(sharp_coll_do_allreduce_nb(comm, &right, NULL), SHARP_COLL_EINVAL);
  CHECK_WRONG(sharp_coll_do_allreduce, dtype = SHARP_DTYPE_NULL, SHARP_COLL_ENOT_SUPP);
  CHECK_WRONG(sharp_coll_do_allreduce, op = (enum sharp_reduce_op)99, SHARP_COLL_ENOT_SUPP);
  CHECK_WRONG(sharp_coll_do_allreduce, op = SHARP_OP_MAXLOC, SHARP_COLL_ENOT_SUPP);
  CHECK_WRONG(sharp_coll_do_allreduce, sbuf_desc.buffer.length = 3, SHARP_COLL_EINVAL);
  CHECK_WRONG(sharp_coll_do_allreduce, rbuf_desc.buffer.length = 0, SHARP_COLL_EINVAL);
  CHECK_WRONG(sharp_coll_do_allreduce, sbuf_desc.buffer.ptr = NULL, SHARP_COLL_EINVAL);
  CHECK_WRONG(sharp_coll_do_allreduce, sbuf_desc.mem_type = SHARP_MEM_TYPE_CUDA, SHARP_COLL_ENOT_SUPP);
  CHECK_WRONG(sharp_coll_do_allreduce, sbuf_desc.type = SHARP_DATA_IOV, SHARP_COLL_ENOT_SUPP);
  CHECK_WRONG(sharp_coll_do_allreduce, aggr_mode = SHARP_AGGREGATION_STREAMING, SHARP_COLL_ENOT_SUPP);
  CHECK_WRONG(sharp_coll_do_reduce, root = world_size, SHARP_COLL_EINVAL);
  CHECK_WRONG(sharp_coll_do_reduce_scatter, rbuf_desc.buffer.length = 0, SHARP_COLL_EINVAL);
  CHECK_CODE(sharp_coll_req_test(NULL), SHARP_COLL_EINVAL);
  CHECK_CODE(sharp_coll_comm_destroy(NULL), SHARP_COLL_EINVAL);
  CHECK_OK(sharp_coll_do_allreduce(comm, &right)); /* nothing of that has left a trace */
  CHECK_OK(sharp_coll_finalize(context));
  words();
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct sharp_coll_context* open_context_with_timeout(int timeout) {
  struct sharp_coll_init_spec spec = {.job_id = 3, .world_rank = world_rank, .world_size = world_size};
  struct sharp_coll_context* context = NULL;
  spec.config = sharp_coll_default_config;
  spec.config.coll_timeout = timeout;
  spec.oob_colls = room_functions;
  spec.oob_ctx = &world;
  CHECK_OK(sharp_coll_init(&spec, &context));
  return context;
}

void init_is_refused(void) {
  struct sharp_coll_context* context = NULL;
  const double start = seconds();
  CHECK_CODE(try_context(&context), number_in("TEST_CODE"));
  CHECK(!context);
  CHECK(seconds() - start < 5);
}

void group_is_refused(void) {
  struct sharp_coll_context* const context = open_context();
  struct sharp_coll_comm* comm = NULL;
  CHECK_CODE(try_communicator(context, &world, &comm), number_in("TEST_CODE"));
  CHECK(!comm);
  CHECK_OK(sharp_coll_finalize(context));
}

/* Two jobs: the ranks of the first half and the others. */
void lock_is_taken(void) {
  const int half = world_size / 2, is_first = world_rank < half;
  const struct room all = world;
  world =
      is_first ? (struct room){1, world_rank, half} : (struct room){2, world_rank - half, world_size - half};
  const int rank = world.rank, size = world.size;
  struct room everybody = all;
  world_rank = rank;
  world_size = size;
  if (!is_first) unsetenv("SHARP_COLL_LOCK_ON_COMM_INIT");
  struct sharp_coll_context* const context = open_context();
  struct sharp_coll_comm* comm = NULL;
  if (is_first) {
    comm = open_communicator(context, &world);
    CHECK_OK(allreduce(comm, 100000, SHARP_AGGREGATION_STREAMING));
    room_barrier(&everybody); /* locked */
    room_barrier(&everybody); /* the others have tried */
    CHECK_OK(sharp_coll_comm_destroy(comm));
    room_barrier(&everybody);
  } else {
    comm = open_communicator(context, &world);
    room_barrier(&everybody);
    CHECK_CODE(allreduce(comm, 100000, SHARP_AGGREGATION_STREAMING), SHARP_COLL_ELOCK_FAILED);
    CHECK_OK(allreduce(comm, 100000, SHARP_AGGREGATION_NONE)); /* in pieces */
    room_barrier(&everybody);
    room_barrier(&everybody);
    int code = SHARP_COLL_ELOCK_FAILED;
    for (int i = 0; i < 2000 && code == SHARP_COLL_ELOCK_FAILED; ++i) { /* leaving takes a moment */
      code = allreduce(comm, 100000, SHARP_AGGREGATION_STREAMING);
      usleep(10000);
    }
    CHECK_OK(code);
  }
  CHECK_OK(sharp_coll_finalize(context));
}

void lock_is_refused(void) {
  struct sharp_coll_context* const context = open_context();
  struct sharp_coll_comm* const comm = open_communicator(context, &world);
  CHECK_CODE(allreduce(comm, 100000, SHARP_AGGREGATION_STREAMING), SHARP_COLL_ELOCK_FAILED);
  CHECK_OK(allreduce(comm, 100000, SHARP_AGGREGATION_NONE));
  CHECK_CODE(allreduce(comm, 10, SHARP_AGGREGATION_STREAMING), SHARP_COLL_ELOCK_FAILED);
  CHECK_OK(sharp_coll_finalize(context));
}

void switch_is_lost(void) {
  struct sharp_coll_context* const context = open_context();
  struct sharp_coll_comm* const comm = open_communicator(context, &world);
  CHECK_OK(allreduce(comm, 10, SHARP_AGGREGATION_NONE));
  void* request = NULL;
  if (world_rank != 0) CHECK_OK(sharp_coll_do_barrier_nb(comm, &request));
  room_barrier(&world); /* the others are in it */
  if (world_rank == 0)
    kill((pid_t)number_in("TEST_SWITCH_PID"), SIGKILL);
  else
    CHECK(finish(request) < 0);
  CHECK(allreduce(comm, 100000, SHARP_AGGREGATION_NONE) < 0);
  CHECK(sharp_coll_do_barrier(comm) < 0);
  struct sharp_coll_comm* other = NULL;
  CHECK(try_communicator(context, &world, &other) < 0);
  CHECK_OK(sharp_coll_comm_destroy(comm));
  CHECK_OK(sharp_coll_finalize(context));
}

/* All ranks have the same verdict, and have it soon. */
static int verdict_on_one_more(struct sharp_coll_context* context, struct sharp_coll_comm** comm) {
  const double start = seconds();
  const int code = try_communicator(context, &world, comm);
  CHECK(seconds() - start < number_in("TEST_MOST_SECONDS"));
  int first = code;
  room_bcast(&world, &first, sizeof first, 0);
  CHECK(first == code);
  return code;
}

/* The context, with some communicators that have lost their switch. */
enum { lost_count = 5 };
static struct sharp_coll_context* lose_the_switch(struct sharp_coll_comm** lost) {
  struct sharp_coll_context* const context = open_context();
  for (int i = 0; i < lost_count; ++i) lost[i] = open_communicator(context, &world);
  CHECK_OK(allreduce(lost[0], 100000, SHARP_AGGREGATION_STREAMING)); /* it has the lock */
  room_barrier(&world);
  if (world_rank == 0) kill((pid_t)number_in("TEST_SWITCH_PID"), SIGKILL);
  for (int i = 0; i < lost_count; ++i) {
    int code = SHARP_COLL_SUCCESS;
    for (int calls = 0; calls < 1000 && code == SHARP_COLL_SUCCESS; ++calls)
      code = sharp_coll_do_barrier(lost[i]);
    CHECK(code < 0 || number_in("TEST_TREES") > 1); /* those of the other tree go on */
  }
  return context;
}

/* Killed, and started again by whoever started it: new communicators work, the lost ones never do. */
void switch_comes_back(void) {
  enum { most = 256 };
  struct sharp_coll_comm *lost[lost_count], *made[most];
  struct sharp_coll_context* const context = lose_the_switch(lost);
  int code = SHARP_COLL_ERROR;
  for (int tries = 0; tries < 2000 && code != SHARP_COLL_SUCCESS; ++tries) {
    code = verdict_on_one_more(context, &made[0]);
    if (code != SHARP_COLL_SUCCESS) usleep(10000);
  }
  CHECK_OK(code);
  if (code != SHARP_COLL_SUCCESS) return;
  CHECK_OK(allreduce(made[0], 10, SHARP_AGGREGATION_NONE));
  if (number_in("TEST_TREES") <= 1) {
    CHECK_OK(allreduce(made[0], 100000, SHARP_AGGREGATION_STREAMING));
    for (int i = 0; i < lost_count; ++i) CHECK(allreduce(lost[i], 10, SHARP_AGGREGATION_NONE) < 0);
    struct sharp_coll_caps caps; /* lost ones use up nothing */
    CHECK_OK(sharp_coll_caps_query(context, &caps));
    int count = 1;
    while (count < most && try_communicator(context, &world, &made[count]) == SHARP_COLL_SUCCESS) ++count;
    CHECK(count == caps.resources.max_osts / caps.resources.osts_per_group);
    CHECK_OK(allreduce(made[count - 1], 1000, SHARP_AGGREGATION_NONE));
  }
  for (int i = 0; i < lost_count; ++i) CHECK_OK(sharp_coll_comm_destroy(lost[i]));
  CHECK_OK(allreduce(made[0], 10, SHARP_AGGREGATION_NONE));
  CHECK_OK(sharp_coll_finalize(context));
}

/* What is in its place is no switch, or none for this job. */
void switch_does_not_come_back(void) {
  struct sharp_coll_comm *lost[lost_count], *none = NULL;
  struct sharp_coll_context* const context = lose_the_switch(lost);
  const double start = seconds();
  for (int tries = 0; tries < 15; ++tries) {
    CHECK_CODE(verdict_on_one_more(context, &none), SHARP_COLL_ECONN_TREE);
    usleep(10000);
  }
  CHECK(seconds() - start < 25); /* on a machine that does a lot else */
  CHECK_OK(sharp_coll_finalize(context));
}

/* HOCKET_SHARP_FAULTS cuts one of them off after some operations: all see it. It is back each time. */
void rank_is_cut_off(void) {
  struct sharp_coll_context* const context = open_context();
  struct sharp_coll_comm* const comm = open_communicator(context, &world);
  int code = SHARP_COLL_SUCCESS;
  for (int i = 0; i < 2000 && code == SHARP_COLL_SUCCESS; ++i)
    code = allreduce(comm, i % 2 ? 100 : 200000, SHARP_AGGREGATION_NONE);
  CHECK(code < 0);
  struct sharp_coll_comm* other = NULL;
  code = try_communicator(context, &world, &other);
  if (code == SHARP_COLL_ERROR)
    code = try_communicator(context, &world, &other); /* the news was in between */
  CHECK_OK(code);
  if (code == SHARP_COLL_SUCCESS && number_in("TEST_LASTS") > 0)
    CHECK_OK(allreduce(other, 100, SHARP_AGGREGATION_NONE));
  CHECK_OK(sharp_coll_finalize(context));
}

/* The last rank is done with a communicator before the others: what they can do without it they still do, and
 * there is room for another one. */
void member_leaves(void) {
  struct sharp_coll_context* const context = open_context();
  struct sharp_coll_comm *comm = open_communicator(context, &world),
                         *other = open_communicator(context, &world);
  CHECK_OK(allreduce(comm, 100, SHARP_AGGREGATION_NONE));
  if (world_rank == world_size - 1) CHECK_OK(sharp_coll_comm_destroy(comm));
  room_barrier(&world);
  struct sharp_coll_comm* another =
      open_communicator(context, &world); /* after two, of which there may be two */
  CHECK_OK(allreduce(another, 100, SHARP_AGGREGATION_NONE));
  CHECK_OK(allreduce(other, 100, SHARP_AGGREGATION_NONE));
  if (world_rank < world_size - 1) {
    CHECK_OK(allreduce(comm, 0, SHARP_AGGREGATION_NONE));
    CHECK_CODE(allreduce(comm, 100, SHARP_AGGREGATION_NONE), SHARP_COLL_ERROR);
    CHECK_CODE(allreduce(comm, 0, SHARP_AGGREGATION_NONE), SHARP_COLL_ERROR);
    CHECK_OK(sharp_coll_comm_destroy(comm));
  }
  CHECK_OK(sharp_coll_finalize(context));
}

/* A switch that does not answer while a communicator is made is waited for as long as coll_timeout says. */
void switch_does_not_answer(void) {
  struct sharp_coll_context* const context = open_context_with_timeout(1);
  const pid_t switch_pid = (pid_t)number_in("TEST_SWITCH_PID");
  struct sharp_coll_comm* comm = NULL;
  if (!context) return;
  room_barrier(&world);
  if (world_rank == 0) kill(switch_pid, SIGSTOP);
  room_barrier(&world);
  const double start = seconds();
  CHECK_CODE(try_communicator(context, &world, &comm), SHARP_COLL_EGROUP_JOIN);
  CHECK(seconds() - start < 15); /* or it has not been the timeout */
  room_barrier(&world);
  if (world_rank == 0) kill(switch_pid, SIGCONT);
  int code = SHARP_COLL_ERROR;
  for (int tries = 0; tries < 2000 && code != SHARP_COLL_SUCCESS; ++tries) {
    code = verdict_on_one_more(context, &comm); /* refused at once for a while */
    if (code != SHARP_COLL_SUCCESS) usleep(10000);
  }
  CHECK_OK(code);
  if (comm) CHECK_OK(allreduce(comm, 100, SHARP_AGGREGATION_NONE));
  CHECK_OK(sharp_coll_finalize(context));
}

/* coll_timeout: the last rank does not call. */
void peer_never_comes(void) {
  struct sharp_coll_context* const context = open_context_with_timeout(1);
  if (!context) return;
  struct sharp_coll_comm* const comm = open_communicator(context, &world);
  if (world_rank < world_size - 1) CHECK_CODE(sharp_coll_do_barrier(comm), SHARP_COLL_ERROR);
  room_barrier(&world);
  CHECK_OK(sharp_coll_finalize(context));
}
