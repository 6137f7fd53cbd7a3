/* As MVAPICH2 calls the interface: the library opened by its name, a configuration of its own, memory as
 * malloc gives it, no memory handles, no modes, and in place through a copy. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "areas.h"
#include "calls.h"

#define FUNCTION(name) __typeof__(&sharp_coll_##name) name
static struct {
  FUNCTION(log_early_init);
  FUNCTION(init);
  FUNCTION(comm_init);
  FUNCTION(do_allreduce);
  FUNCTION(do_reduce);
  FUNCTION(do_bcast);
  FUNCTION(do_barrier);
  FUNCTION(dump_stats);
  FUNCTION(comm_destroy);
  FUNCTION(finalize);
} library;

#define LOOK_UP(name) \
  CHECK((library.name = (__typeof__(library.name))dlsym(handle, "sharp_coll_" #name)) != NULL)
static void look_up(void* handle) {
  LOOK_UP(log_early_init);
  LOOK_UP(init);
  LOOK_UP(comm_init);
  LOOK_UP(do_allreduce);
  LOOK_UP(do_reduce);
  LOOK_UP(do_bcast);
  LOOK_UP(do_barrier);
  LOOK_UP(dump_stats);
  LOOK_UP(comm_destroy);
  LOOK_UP(finalize);
}

static void* rubbish(size_t bytes) {
  return memset(malloc(bytes), 0xAB, bytes);
}

/* Its out-of-band functions do without a context, and it sets none. */
static int bcast(void* unset, void* buffer, int bytes, int root) {
  CHECK(unset != &world);
  return room_bcast(&world, buffer, bytes, root);
}
static int barrier(void* unset) {
  CHECK(unset != &world);
  return room_barrier(&world);
}
static int gather(void* unset, int root, void* own, void* of_all, int bytes) {
  CHECK(unset != &world);
  return room_gather(&world, root, own, of_all, bytes);
}

static struct sharp_coll_context* make_context(void) {
  static const struct sharp_coll_config own_config = {"mlx5_0:1", 10000, 100, 0, {0}};
  struct sharp_coll_init_spec* const spec = rubbish(sizeof *spec);
  struct sharp_coll_context* context = NULL;
  spec->progress_func = NULL;
  spec->job_id = 77;
  spec->world_rank = world_rank;
  spec->world_size = world_size;
  spec->world_local_rank = 0;
  spec->enable_thread_support = 0;
  spec->group_channel_idx = 0;
  spec->oob_colls = (struct sharp_coll_out_of_band_colls){bcast, barrier, gather};
  spec->config = own_config;
  CHECK_OK(library.init(spec, &context));
  free(spec);
  return context;
}

static struct sharp_coll_comm* make_communicator(struct sharp_coll_context* context) {
  struct sharp_coll_comm_init_spec* const spec = rubbish(sizeof *spec);
  struct sharp_coll_comm* comm = NULL;
  spec->rank = world_rank;
  spec->size = world_size;
  CHECK_OK(library.comm_init(context, spec, &comm));
  free(spec);
  return comm;
}

static void reduce_and_broadcast(struct sharp_coll_comm* comm) {
  int target[64], copy[64];
  for (int i = 0; i < 64; ++i) copy[i] = target[i] = world_rank + i;
  struct sharp_coll_reduce_spec* const reduce = rubbish(sizeof *reduce);
  reduce->sbuf_desc = buffer_of(copy, sizeof copy);
  reduce->rbuf_desc = buffer_of(target, sizeof target);
  reduce->length = 64;
  reduce->dtype = SHARP_DTYPE_INT;
  reduce->op = SHARP_OP_MAX;
  reduce->root = 0;
  CHECK_OK(library.do_allreduce(comm, reduce));
  for (int i = 0; i < 64; ++i) CHECK(target[i] == world_size - 1 + i);
  reduce->op = SHARP_OP_MIN;
  CHECK_OK(library.do_reduce(comm, reduce));
  CHECK(world_rank > 0 || target[5] == 5);
  struct sharp_coll_bcast_spec* const bcast_spec = rubbish(sizeof *bcast_spec);
  bcast_spec->root = 0;
  bcast_spec->buf_desc = buffer_of(target, sizeof target);
  CHECK_OK(library.do_bcast(comm, bcast_spec));
  for (int i = 0; i < 64; ++i) CHECK(target[i] == i);
  free(reduce);
  free(bcast_spec);
}

void as_mvapich2(void) {
  void* const handle = dlopen(getenv("TEST_LIBRARY"), RTLD_LAZY | RTLD_LOCAL);
  CHECK(handle);
  if (!handle) return;
  look_up(handle);
  library.log_early_init();
  struct sharp_coll_context* const context = make_context();
  if (!context) return;
  struct sharp_coll_comm* const comm = make_communicator(context);
  if (!comm) return;
  reduce_and_broadcast(comm);
  CHECK_OK(library.do_barrier(comm));
  CHECK_OK(library.dump_stats(context));
  CHECK_OK(library.comm_destroy(comm));
  CHECK_OK(library.finalize(context));
  CHECK(dlclose(handle) == 0);
}
