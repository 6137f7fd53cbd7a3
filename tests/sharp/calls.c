#include "calls.h"

#include <stdlib.h>
#include <string.h>

int finish(void* request) {
  int outcome;
  while ((outcome = sharp_coll_req_test(request)) == 0) {
  }
  CHECK_OK(sharp_coll_req_free(request));
  return outcome;
}

struct sharp_coll_data_desc buffer_of(void* data, size_t bytes) {
  struct sharp_coll_data_desc desc = {.type = SHARP_DATA_BUFFER, .mem_type = SHARP_MEM_TYPE_HOST};
  desc.buffer.ptr = data;
  desc.buffer.length = bytes;
  return desc;
}

/* A byte more on each side shows who writes beyond it. */
static char* new_buffer(size_t bytes) {
  char* const memory = malloc(bytes + 2);
  memset(memory, 0x5A, bytes + 2);
  return memory + 1;
}

static void end_buffer(char* buffer, size_t bytes) {
  CHECK(buffer[-1] == 0x5A && buffer[bytes] == 0x5A);
  free(buffer - 1);
}

static int world_rank_of(const struct call* call) {
  return call->members.first + call->rank * call->members.step;
}

static void fill(const struct call* call, char* buffer, size_t count) {
  for (size_t i = 0; i < count; ++i)
    put(call->type, buffer, i, value_of(call->type, call->op, world_rank_of(call), i));
}

static size_t wrong_results(const struct call* call, const char* buffer, size_t first, size_t count) {
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i)
    wrong += !holds(call->type, buffer, i, result_of(call->type, call->op, &call->members, first + i));
  return wrong;
}

static struct sharp_coll_reduce_spec spec_of(const struct call* call, char* source, char* target,
                                             size_t bytes) {
  struct sharp_coll_reduce_spec spec;
  memset(&spec, 0x77, sizeof spec);
  spec.sbuf_desc = buffer_of(source, bytes);
  spec.rbuf_desc = buffer_of(target, bytes);
  spec.dtype = call->type;
  spec.op = call->op;
  spec.length = call->count;
  spec.aggr_mode = call->manner.mode;
  return spec;
}

void check_allreduce(const struct call* call) {
  const size_t bytes = call->count * size_of(call->type);
  char* const target = new_buffer(bytes);
  char* const source = call->manner.in_place ? target : new_buffer(bytes);
  struct sharp_coll_reduce_spec spec = spec_of(call, source, target, bytes);
  fill(call, source, call->count);
  if (call->manner.nonblocking) {
    void* request = NULL;
    CHECK_OK(sharp_coll_do_allreduce_nb(call->comm, &spec, &request));
    CHECK(finish(request) == 1);
  } else {
    CHECK_OK(sharp_coll_do_allreduce(call->comm, &spec));
  }
  CHECK(wrong_results(call, target, 0, call->count) == 0);
  if (source != target) end_buffer(source, bytes);
  end_buffer(target, bytes);
}

void check_reduce(const struct call* call, int root) {
  const size_t bytes = call->count * size_of(call->type);
  char* const source = new_buffer(bytes);
  char* const target = new_buffer(bytes);
  struct sharp_coll_reduce_spec spec = spec_of(call, source, target, bytes);
  spec.root = root;
  fill(call, source, call->count);
  if (call->rank != root) memset(&spec.rbuf_desc, 0x77, sizeof spec.rbuf_desc);
  if (call->manner.nonblocking) {
    void* request = NULL;
    CHECK_OK(sharp_coll_do_reduce_nb(call->comm, &spec, &request));
    CHECK_OK(sharp_coll_req_wait(request));
  } else {
    CHECK_OK(sharp_coll_do_reduce(call->comm, &spec));
  }
  if (call->rank == root) CHECK(wrong_results(call, target, 0, call->count) == 0);
  end_buffer(source, bytes);
  end_buffer(target, bytes);
}

void check_bcast(const struct call* call, int root) {
  const size_t bytes = call->count * size_of(call->type);
  const int root_in_world = call->members.first + root * call->members.step;
  char* const data = new_buffer(bytes);
  struct sharp_coll_bcast_spec spec;
  memset(&spec, 0x77, sizeof spec);
  spec.buf_desc = buffer_of(data, bytes);
  spec.root = root;
  if (call->rank == root) fill(call, data, call->count);
  if (call->manner.nonblocking) {
    void* request = NULL;
    CHECK_OK(sharp_coll_do_bcast_nb(call->comm, &spec, &request));
    CHECK(finish(request) == 1);
  } else {
    CHECK_OK(sharp_coll_do_bcast(call->comm, &spec));
  }
  size_t wrong = 0;
  for (size_t i = 0; i < call->count; ++i)
    wrong += !holds(call->type, data, i, value_of(call->type, call->op, root_in_world, i));
  CHECK(wrong == 0);
  end_buffer(data, bytes);
}

void check_allgather(const struct call* call) {
  const size_t block = call->count * size_of(call->type), bytes = block * (size_t)call->members.count;
  char* const target = new_buffer(bytes);
  char* const source = call->manner.in_place ? target + block * (size_t)call->rank : new_buffer(block);
  struct sharp_coll_gather_spec spec;
  memset(&spec, 0x77, sizeof spec);
  spec.sbuf_desc = buffer_of(source, block);
  spec.rbuf_desc = buffer_of(target, bytes);
  spec.dtype = SHARP_DTYPE_INT8;
  fill(call, source, call->count);
  if (call->manner.nonblocking) {
    void* request = NULL;
    CHECK_OK(sharp_coll_do_allgather_nb(call->comm, &spec, &request));
    CHECK(finish(request) == 1);
  } else {
    CHECK_OK(sharp_coll_do_allgather(call->comm, &spec));
  }
  size_t wrong = 0;
  for (int member = 0; member < call->members.count; ++member)
    for (size_t i = 0; i < call->count; ++i)
      wrong += !holds(call->type, target + block * (size_t)member, i,
                      value_of(call->type, call->op, call->members.first + member * call->members.step, i));
  CHECK(wrong == 0);
  if (!call->manner.in_place) end_buffer(source, block);
  end_buffer(target, bytes);
}

void check_reduce_scatter(const struct call* call) {
  const size_t block = call->count * size_of(call->type), bytes = block * (size_t)call->members.count;
  char* const source = new_buffer(bytes);
  char* const target = call->manner.in_place ? source : new_buffer(block);
  struct sharp_coll_reduce_spec spec = spec_of(call, source, target, bytes);
  spec.rbuf_desc = buffer_of(target, block);
  fill(call, source, call->count * (size_t)call->members.count);
  if (call->manner.nonblocking) {
    void* request = NULL;
    CHECK_OK(sharp_coll_do_reduce_scatter_nb(call->comm, &spec, &request));
    CHECK(finish(request) == 1);
  } else {
    CHECK_OK(sharp_coll_do_reduce_scatter(call->comm, &spec));
  }
  CHECK(wrong_results(call, target, call->count * (size_t)call->rank, call->count) == 0);
  if (!call->manner.in_place) end_buffer(target, block);
  end_buffer(source, bytes);
}

void check_barrier(const struct call* call) {
  void* request = NULL;
  if (call->manner.nonblocking) {
    CHECK_OK(sharp_coll_do_barrier_nb(call->comm, &request));
    CHECK(finish(request) == 1);
  } else {
    CHECK_OK(sharp_coll_do_barrier(call->comm));
  }
}
