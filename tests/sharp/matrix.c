/* Types, operations, sizes and ways to call, against the reference. */
#include <stdlib.h>
#include <string.h>

#include "areas.h"
#include "calls.h"

static struct sharp_coll_context* context;
static struct sharp_coll_caps caps;

static struct call opened(void) {
  context = open_context();
  CHECK_OK(sharp_coll_caps_query(context, &caps));
  return (struct call){
      .comm = open_communicator(context, &world), .members = {0, 1, world_size}, .rank = world_rank};
}

static void close_all(const struct call* call) {
  CHECK_OK(sharp_coll_comm_destroy(call->comm));
  CHECK_OK(sharp_coll_finalize(context));
}

static int streams(void) {
  return (caps.support_mask.feature_mask & SHARP_FEATURE_SAT) != 0;
}

void types(void) {
  struct call call = opened();
  CHECK(caps.support_mask.reduce_ops == (1U << SHARP_OP_NULL) - 1);
  CHECK(caps.support_mask.dtypes == (1U << SHARP_DTYPE_NULL) - 1);
  for (int type = 0; type < SHARP_DTYPE_NULL; ++type)
    for (int op = 0; op < SHARP_OP_MAXLOC; ++op) {
      call.type = (enum sharp_datatype)type;
      call.op = (enum sharp_reduce_op)op;
      if (!is_defined(call.op, call.type)) continue;
      const size_t payload = (size_t)caps.resources.user_data_per_ost / size_of(call.type);
      const size_t counts[] = {1, 37, payload + 1};
      for (size_t i = 0; i < 3; ++i) {
        call.count = counts[i];
        call.manner = (struct manner){op % 2, type % 2, SHARP_AGGREGATION_NONE};
        check_allreduce(&call);
      }
      call.manner.mode = streams() ? SHARP_AGGREGATION_STREAMING : SHARP_AGGREGATION_DATAGRAM;
      check_allreduce(&call);
    }
  close_all(&call);
}

static void check_everything(struct call* call) {
  const enum sharp_aggregation_mode last =
      streams() ? SHARP_AGGREGATION_STREAMING : SHARP_AGGREGATION_DATAGRAM;
  for (int way = 0; way < 4; ++way)
    for (int mode = 0; mode <= (int)last; ++mode) {
      call->manner = (struct manner){way & 1, way >> 1, (enum sharp_aggregation_mode)mode};
      check_allreduce(call);
      if (call->manner.in_place) continue;
      check_reduce(call, (int)(call->count % (size_t)call->members.count));
    }
  for (int way = 0; way < 4; ++way) {
    call->manner = (struct manner){way & 1, way >> 1, SHARP_AGGREGATION_NONE};
    check_allgather(call);
    check_reduce_scatter(call);
    if (!call->manner.in_place) check_bcast(call, (int)(call->count % (size_t)call->members.count));
    check_barrier(call);
  }
}

void sizes(void) {
  struct call call = opened();
  const size_t payload = (size_t)caps.resources.user_data_per_ost, threshold = 16384;
  const size_t pipeline = payload * (size_t)caps.resources.osts_per_group;
  const size_t window = (size_t)number_in("TEST_WINDOW");
  const enum sharp_datatype of_sizes[] = {SHARP_DTYPE_INT8, SHARP_DTYPE_FLOAT, SHARP_DTYPE_DOUBLE};
  call.op = SHARP_OP_SUM;
  for (int i = 0; i < 3; ++i) {
    call.type = of_sizes[i];
    const size_t limits[] = {payload, pipeline, threshold, window};
    const size_t element = size_of(call.type);
    for (int count = 0; count < 2; ++count) {
      call.count = (size_t)count;
      check_everything(&call);
    }
    for (int limit = 0; limit < 4; ++limit)
      for (int beside = -1; beside <= 1; ++beside) {
        call.count = limits[limit] / element + (size_t)beside;
        if (limit == 3 || beside == 0 || call.type == SHARP_DTYPE_FLOAT) check_everything(&call);
      }
  }
  call.count = 700001; /* doubles: some MiB */
  call.manner = (struct manner){0, 1, SHARP_AGGREGATION_NONE};
  check_allreduce(&call);
  check_bcast(&call, 0);
  close_all(&call);
}

struct float_int {
  float value;
  int tag;
};
struct short_int {
  short value;
  int tag;
};
struct long_int {
  long value;
  int tag;
};

#define CHECK_PAIRS(kind, dtype_, op_, winner)                                                   \
  do {                                                                                           \
    struct kind source[300], target[300];                                                        \
    memset(source, 0, sizeof source);                                                            \
    for (int i = 0; i < 300; ++i) {                                                              \
      source[i].value = (__typeof__(source[0].value))((world_rank + i) % world_size);            \
      source[i].tag = world_rank;                                                                \
    }                                                                                            \
    struct sharp_coll_reduce_spec spec = {.sbuf_desc = buffer_of(source, sizeof source),         \
                                          .rbuf_desc = buffer_of(target, sizeof target),         \
                                          .length = 300,                                         \
                                          .dtype = dtype_,                                       \
                                          .tag_dtype = SHARP_DTYPE_INT,                          \
                                          .op = op_};                                            \
    CHECK_OK(sharp_coll_do_allreduce(call.comm, &spec));                                         \
    int wrong = 0;                                                                               \
    for (int i = 0; i < 300; ++i)                                                                \
      wrong += (int)target[i].value != (winner) || (target[i].tag + i) % world_size != (winner); \
    CHECK(wrong == 0);                                                                           \
    spec.tag_dtype = SHARP_DTYPE_LONG;                                                           \
    CHECK_CODE(sharp_coll_do_allreduce(call.comm, &spec), SHARP_COLL_ENOT_SUPP);                 \
  } while (0)

void pairs(void) {
  const struct call call = opened();
  CHECK(caps.support_mask.tag_dtypes == 1U << SHARP_DTYPE_INT);
  CHECK_PAIRS(float_int, SHARP_DTYPE_FLOAT, SHARP_OP_MAXLOC, world_size - 1);
  CHECK_PAIRS(float_int, SHARP_DTYPE_FLOAT, SHARP_OP_MINLOC, 0);
  CHECK_PAIRS(short_int, SHARP_DTYPE_SHORT, SHARP_OP_MAXLOC, world_size - 1);
  CHECK_PAIRS(long_int, SHARP_DTYPE_LONG, SHARP_OP_MINLOC, 0);
  close_all(&call);
}

/* Reduce-scatter and allgather of a vector, window by window, as NCCL goes through them. */
void windows(void) {
  enum { block = 5000, window = 3001 };
  const struct call call = opened();
  const size_t all = (size_t)block * (size_t)world_size;
  int* const vector = malloc(all * sizeof(int));
  int* const own = malloc(block * sizeof(int));
  memset(own, 0, block * sizeof(int));
  for (size_t i = 0; i < all; ++i) vector[i] = world_rank + (int)(i % 1000);
  for (size_t begin = 0; begin < all; begin += window) {
    const size_t count = all - begin < window ? all - begin : window;
    struct sharp_coll_reduce_spec spec = {.sbuf_desc = buffer_of(vector + begin, count * sizeof(int)),
                                          .rbuf_desc = buffer_of(own, block * sizeof(int)),
                                          .length = count,
                                          .offset = begin * sizeof(int),
                                          .dtype = SHARP_DTYPE_INT,
                                          .op = SHARP_OP_SUM};
    CHECK_OK(sharp_coll_do_reduce_scatter(call.comm, &spec));
  }
  size_t wrong = 0;
  const int ranks = world_size * (world_size - 1) / 2;
  for (size_t i = 0; i < block; ++i)
    wrong += own[i] != ranks + world_size * (int)((i + (size_t)world_rank * block) % 1000);
  CHECK(wrong == 0);
  memset(vector, 0, all * sizeof(int));
  for (size_t begin = 0; begin < all; begin += window) {
    const size_t count = all - begin < window ? all - begin : window;
    struct sharp_coll_gather_spec spec = {.sbuf_desc = buffer_of(own, block * sizeof(int)),
                                          .rbuf_desc = buffer_of(vector + begin, count * sizeof(int)),
                                          .dtype = SHARP_DTYPE_INT8,
                                          .size = count * sizeof(int),
                                          .offset = begin * sizeof(int)};
    CHECK_OK(sharp_coll_do_allgather(call.comm, &spec));
  }
  for (size_t i = 0; i < all; ++i) wrong += vector[i] != ranks + world_size * (int)(i % 1000);
  CHECK(wrong == 0);
  free(vector);
  free(own);
  close_all(&call);
}
