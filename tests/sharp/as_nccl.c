/* As NCCL's plugin calls the interface: variables set by the program, threads, the lock when the communicator
 * is made, no call of progress, and several requests at a time, of which each is tested once per turn. */
#include <stdlib.h>
#include <string.h>

#include "areas.h"
#include "calls.h"

enum { count = 50000, slots = 4 };

static void connect_all(struct sharp_coll_context** context, struct sharp_coll_comm** comm) {
  setenv("SHARP_COLL_ENABLE_SAT", "1", 0);
  setenv("SHARP_COLL_LOCK_ON_COMM_INIT", "1", 0);
  struct sharp_coll_init_spec init = {0};
  init.job_id = 0x1234567890UL;
  init.world_rank = world_rank;
  init.world_size = world_size;
  init.enable_thread_support = 1;
  init.oob_colls = room_functions;
  init.oob_ctx = &world;
  init.config = sharp_coll_default_config;
  init.config.user_progress_num_polls = 10000000;
  CHECK_OK(sharp_coll_init(&init, context));
  struct sharp_coll_comm_init_spec spec;
  memset(&spec, 0x66, sizeof spec);
  spec.rank = world_rank;
  spec.size = world_size;
  spec.oob_ctx = &world;
  spec.group_world_ranks = NULL;
  CHECK_OK(sharp_coll_comm_init(*context, &spec, comm));
}

static void* post(struct sharp_coll_comm* comm, float* data, void* handle) {
  struct sharp_coll_reduce_spec spec;
  void* request = NULL;
  memset(&spec, 0x66, sizeof spec);
  spec.sbuf_desc = buffer_of(data, sizeof(float) * count);
  spec.sbuf_desc.buffer.mem_handle = handle;
  spec.rbuf_desc = spec.sbuf_desc;
  spec.length = count;
  spec.dtype = SHARP_DTYPE_FLOAT;
  spec.op = SHARP_OP_SUM;
  spec.aggr_mode = SHARP_AGGREGATION_NONE;
  CHECK_OK(sharp_coll_do_allreduce_nb(comm, &spec, &request));
  return request;
}

static void test_in_turn(void** requests) {
  for (int left = slots; left > 0;)
    for (int slot = 0; slot < slots; ++slot) {
      if (!requests[slot] || !sharp_coll_req_test(requests[slot])) continue;
      CHECK_OK(sharp_coll_req_free(requests[slot]));
      requests[slot] = NULL;
      --left;
    }
}

/* Types of memory are not set for gathering; only one part's size is. */
static void gather(struct sharp_coll_comm* comm, void* own, void* all, size_t block) {
  struct sharp_coll_gather_spec spec;
  void* request = NULL;
  memset(&spec, 0x01, sizeof spec);
  spec.sbuf_desc.type = spec.rbuf_desc.type = SHARP_DATA_BUFFER;
  spec.sbuf_desc.buffer.ptr = own;
  spec.sbuf_desc.buffer.length = block;
  spec.rbuf_desc.buffer.ptr = all;
  spec.rbuf_desc.buffer.length = block * (size_t)world_size;
  spec.dtype = SHARP_DTYPE_INT8;
  spec.size = spec.rbuf_desc.buffer.length;
  spec.offset = 0;
  CHECK_OK(sharp_coll_do_allgather_nb(comm, &spec, &request));
  CHECK(finish(request) == 1);
}

void as_nccl(void) {
  struct sharp_coll_context* context = NULL;
  struct sharp_coll_comm* comm = NULL;
  connect_all(&context, &comm);
  if (!comm) return;
  float* const data = malloc(sizeof(float) * count * slots);
  const struct sharp_coll_reg_params of_device = {SHARP_COLL_REG_FIELD_DMABUF_FD, 5, 0};
  void *handle = NULL, *requests[slots];
  CHECK_CODE(sharp_coll_reg_mr_v2(context, data, count, &of_device, &handle), SHARP_COLL_ENOT_SUPP);
  CHECK_OK(sharp_coll_reg_mr(context, data, sizeof(float) * count * slots, &handle));
  for (size_t i = 0; i < (size_t)count * slots; ++i) data[i] = (float)(i % 100);
  for (int slot = 0; slot < slots; ++slot) requests[slot] = post(comm, data + (size_t)slot * count, handle);
  test_in_turn(requests);
  size_t wrong = 0;
  for (size_t i = 0; i < (size_t)count * slots; ++i) wrong += data[i] != (float)(i % 100) * (float)world_size;
  CHECK(wrong == 0);
  int* const ranks = calloc((size_t)world_size * count, sizeof(int));
  int* const own = malloc(count * sizeof(int));
  for (int i = 0; i < count; ++i) own[i] = world_rank;
  gather(comm, own, ranks, count * sizeof(int));
  for (int rank = 0; rank < world_size; ++rank) CHECK(ranks[rank * count + 7] == rank);
  CHECK_OK(sharp_coll_dereg_mr(context, handle));
  CHECK_OK(sharp_coll_comm_destroy(comm));
  CHECK_OK(sharp_coll_finalize(context));
  free(data);
  free(ranks);
  free(own);
}
