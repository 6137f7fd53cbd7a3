/* As UCC calls the interface: the context's progress beside the requests' tests, blocks of allgather of INT8,
 * sizes in buffers only, memory registered, and no field zeroed that it does not use. */
#include <string.h>

#include "areas.h"
#include "calls.h"

static struct sharp_coll_context* make_context(void) {
  struct sharp_coll_init_spec spec = {0};
  struct sharp_coll_context* context = NULL;
  unsigned long job = 4711;
  room_bcast(&world, &job, sizeof job, 0);
  spec.world_rank = world_rank;
  spec.world_size = world_size;
  spec.oob_colls = room_functions;
  spec.oob_ctx = &world;
  spec.config = sharp_coll_default_config;
  spec.config.user_progress_num_polls = 9999;
  spec.config.ib_dev_list = "mlx5_0:1";
  spec.config.flags |= SHARP_COLL_HIDE_ERRORS | SHARP_COLL_DISABLE_LAZY_GROUP_RESOURCE_ALLOC;
  spec.job_id = job;
  CHECK_OK(sharp_coll_init(&spec, &context));
  return context;
}

static struct sharp_coll_comm* make_team(struct sharp_coll_context* context) {
  struct sharp_coll_comm_init_spec spec;
  struct sharp_coll_comm* comm = NULL;
  memset(&spec, 0x55, sizeof spec);
  spec.rank = world_rank;
  spec.size = world_size;
  spec.group_world_ranks = NULL;
  spec.oob_ctx = &world;
  CHECK_OK(sharp_coll_comm_init(context, &spec, &comm));
  return comm;
}

/* In place, with a memory handle. */
static void add_up(struct sharp_coll_context* context, struct sharp_coll_comm* comm, long own) {
  long sum = own + world_rank;
  void *request = NULL, *handle = NULL;
  CHECK_OK(sharp_coll_reg_mr(context, &sum, sizeof sum, &handle));
  CHECK(handle);
  struct sharp_coll_reduce_spec spec;
  memset(&spec, 0x55, sizeof spec);
  spec.sbuf_desc = buffer_of(&sum, sizeof sum);
  spec.sbuf_desc.buffer.mem_handle = handle;
  spec.rbuf_desc = spec.sbuf_desc;
  spec.aggr_mode = SHARP_AGGREGATION_NONE;
  spec.length = 1;
  spec.dtype = SHARP_DTYPE_LONG;
  spec.op = SHARP_OP_SUM;
  CHECK_OK(sharp_coll_do_allreduce_nb(comm, &spec, &request));
  while (!sharp_coll_req_test(request)) sharp_coll_progress(context);
  sharp_coll_req_free(request);
  CHECK(sum == (long)world_size * (world_size - 1) / 2 + (long)world_size * own);
  CHECK_OK(sharp_coll_dereg_mr(context, handle));
}

void as_ucc(void) {
  struct sharp_coll_context* const context = make_context();
  if (!context) return;
  struct sharp_coll_caps caps;
  CHECK_OK(sharp_coll_caps_query(context, &caps));
  CHECK(caps.support_mask.dtypes & (1 << SHARP_DTYPE_INT8));
  CHECK(caps.support_mask.feature_mask & SHARP_FEATURE_SAT);
  struct sharp_coll_comm* const comm = make_team(context);
  if (!comm) return;
  for (long round = 0; round < 20; ++round) add_up(context, comm, round);
  const struct call call = {.comm = comm,
                            .members = {0, 1, world_size},
                            .rank = world_rank,
                            .type = SHARP_DTYPE_INT8,
                            .op = SHARP_OP_SUM,
                            .count = 20001,
                            .manner = {.nonblocking = 1}};
  check_allgather(&call);
  check_reduce_scatter(&call);
  check_bcast(&call, world_size - 1);
  check_barrier(&call);
  CHECK_OK(sharp_coll_comm_destroy(comm));
  CHECK_OK(sharp_coll_finalize(context));
}
