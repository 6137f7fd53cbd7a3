/* Many communicators, of many shapes, and many requests. */
#include <pthread.h>
#include <stdlib.h>

#include "areas.h"
#include "calls.h"

struct shape {
  struct members members;
  struct room room;
  struct sharp_coll_comm* comm; /* null: this rank is no member */
};

static struct shape shape_of(int number, int first, int step, int count) {
  struct shape shape = {{first, step, count}, {number, (world_rank - first) / step, count}, NULL};
  const int steps = world_rank - first;
  if (steps % step != 0 || shape.room.rank < 0 || shape.room.rank >= count) shape.room.rank = -1;
  return shape;
}

static void open_shape(struct sharp_coll_context* context, struct shape* shape) {
  if (shape->room.rank >= 0) shape->comm = open_communicator(context, &shape->room);
}

static void check_shape(const struct shape* shape, size_t count, int nonblocking) {
  if (!shape->comm) return;
  const struct call call = {shape->comm,
                            shape->members,
                            shape->room.rank,
                            SHARP_DTYPE_INT,
                            SHARP_OP_SUM,
                            count,
                            {0, nonblocking, SHARP_AGGREGATION_NONE}};
  check_allreduce(&call);
  check_reduce_scatter(&call);
  check_allgather(&call);
  check_bcast(&call, shape->members.count - 1);
  check_barrier(&call);
}

void shapes(void) {
  enum { shapes_count = 7 };
  struct sharp_coll_context* const context = open_context();
  const int half = world_size / 2;
  struct shape all[shapes_count] = {
      shape_of(1, 0, 1, world_size),           shape_of(2, 0, 1, half),
      shape_of(3, half, 1, world_size - half), shape_of(4, world_size - 1, -1, world_size),
      shape_of(5, 0, 2, (world_size + 1) / 2), shape_of(6, 0, 1, world_size - 1),
      shape_of(7, 1, 1, world_size - 1)};
  for (int i = 0; i < shapes_count; ++i) open_shape(context, &all[i]);
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < shapes_count; ++i)
      check_shape(&all[i], round == 0 ? 1 : round == 1 ? 1000 : 30000, round % 2);
  for (int i = 0; i < shapes_count; i += 2)
    if (all[i].comm) CHECK_OK(sharp_coll_comm_destroy(all[i].comm));
  CHECK_OK(sharp_coll_finalize(context)); /* with the others open */
}

void many(void) {
  struct sharp_coll_context* const context = open_context();
  for (int i = 0; i < 1000; ++i) {
    struct sharp_coll_comm* const comm = open_communicator(context, &world);
    const struct call call = {comm, {0, 1, world_size}, world_rank, SHARP_DTYPE_INT, SHARP_OP_SUM,
                              3,    {0, 0, 0}};
    if (i % 100 == 0) check_allreduce(&call);
    CHECK_OK(sharp_coll_comm_destroy(comm));
  }
  CHECK_OK(sharp_coll_finalize(context));
}

/* As many as there are, one more, and all again. */
void too_many(void) {
  enum { most = 256 };
  struct sharp_coll_context* const context = open_context();
  struct sharp_coll_caps caps;
  struct sharp_coll_comm* comms[most];
  CHECK_OK(sharp_coll_caps_query(context, &caps));
  CHECK(caps.resources.max_groups < most);
  for (int time = 0; time < 2; ++time) {
    int made = 0, code = SHARP_COLL_SUCCESS;
    while (made < most && (code = try_communicator(context, &world, &comms[made])) == SHARP_COLL_SUCCESS)
      ++made;
    CHECK(code == SHARP_COLL_EGROUP_ALLOC || code == SHARP_COLL_EQUOTA);
    CHECK(made > 0 && made <= caps.resources.max_groups);
    int verdict = code * 1000 + made;
    room_bcast(&world, &verdict, sizeof verdict, 0);
    CHECK(verdict == code * 1000 + made);
    const struct call call = {
        comms[made - 1], {0, 1, world_size}, world_rank, SHARP_DTYPE_INT, SHARP_OP_SUM, 500, {0, 0, 0}};
    check_allreduce(&call);
    for (int i = 0; i < made; ++i) CHECK_OK(sharp_coll_comm_destroy(comms[i]));
  }
  CHECK_OK(sharp_coll_finalize(context));
}

/* Long and short ones, on two communicators, waited for from the last to the first; ranks take turns in which
 * comes first. */
void outstanding(void) {
  enum { requests_count = 24, longest = 40000 };
  struct sharp_coll_context* const context = open_context();
  struct room other = {1, world_rank, world_size};
  struct sharp_coll_comm* const comms[2] = {open_communicator(context, &world),
                                            open_communicator(context, &other)};
  static int data[requests_count][longest];
  void* requests[requests_count];
  for (int i = 0; i < requests_count; ++i) {
    const int at = world_rank % 2 ? i ^ 1 : i; /* even ones are of the first communicator */
    const size_t count = at % 3 == 0 ? longest : 10;
    for (size_t k = 0; k < count; ++k) data[at][k] = at + world_rank;
    struct sharp_coll_reduce_spec spec = {.sbuf_desc = buffer_of(data[at], count * sizeof(int)),
                                          .rbuf_desc = buffer_of(data[at], count * sizeof(int)),
                                          .length = count,
                                          .dtype = SHARP_DTYPE_INT,
                                          .op = SHARP_OP_SUM};
    CHECK_OK(sharp_coll_do_allreduce_nb(comms[at % 2], &spec, &requests[at]));
  }
  for (int i = requests_count - 1; i >= 0; --i) {
    CHECK_OK(sharp_coll_req_wait(requests[i]));
    const int expected = world_size * i + world_size * (world_size - 1) / 2;
    CHECK(data[i][0] == expected && data[i][i % 3 == 0 ? longest - 1 : 9] == expected);
  }
  void* forgotten = NULL; /* freed before it is complete */
  CHECK_OK(sharp_coll_do_barrier_nb(comms[0], &forgotten));
  CHECK_OK(sharp_coll_req_free(forgotten));
  CHECK_OK(sharp_coll_do_barrier(comms[0]));
  if (world_rank > 0) { /* ends with its context */
    CHECK_OK(sharp_coll_do_barrier_nb(comms[1], &forgotten));
    CHECK(sharp_coll_req_test(forgotten) == 0);
  }
  room_barrier(&world);
  CHECK_OK(sharp_coll_finalize(context));
  if (world_rank > 0) {
    CHECK(sharp_coll_req_test(forgotten) < 0);
    CHECK_OK(sharp_coll_req_free(forgotten));
  }
}

static void* use(void* argument) {
  const struct call* const call = argument;
  for (int i = 0; i < 200; ++i) check_allreduce(call);
  return NULL;
}

/* Each thread has a communicator. */
void threads(void) {
  struct sharp_coll_init_spec spec = {.job_id = 99, .world_rank = world_rank, .world_size = world_size};
  struct sharp_coll_context* context = NULL;
  spec.config = sharp_coll_default_config;
  spec.oob_colls = room_functions;
  spec.oob_ctx = &world;
  spec.enable_thread_support = 1;
  CHECK_OK(sharp_coll_init(&spec, &context));
  if (!context) return;
  struct room other = {1, world_rank, world_size};
  struct call calls[2];
  for (int i = 0; i < 2; ++i)
    calls[i] = (struct call){open_communicator(context, i ? &other : &world),
                             {0, 1, world_size},
                             world_rank,
                             SHARP_DTYPE_INT,
                             SHARP_OP_SUM,
                             i ? 10000 : 50,
                             {0, i, SHARP_AGGREGATION_NONE}};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, use, &calls[1]) == 0);
  use(&calls[0]);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_OK(sharp_coll_finalize(context));
}
