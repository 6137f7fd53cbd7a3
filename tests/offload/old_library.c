#include "old_library.h"

#include <sharp/api/sharp_coll.h>

#pragma GCC visibility push(default)

struct OldLibrary old_library;

static char one; /* stands for all objects */

int sharp_coll_init(struct sharp_coll_init_spec* spec, struct sharp_coll_context** context) {
  (void)spec;
  if (old_library.init_error) return old_library.init_error;
  ++old_library.contexts;
  *context = (struct sharp_coll_context*)&one;
  return 0;
}

int sharp_coll_finalize(struct sharp_coll_context* context) {
  (void)context;
  --old_library.contexts;
  return 0;
}

int sharp_coll_caps_query(struct sharp_coll_context* context, struct sharp_coll_caps* caps) {
  (void)context;
  *caps = (struct sharp_coll_caps){0};
  caps->support_mask.dtypes = (1U << SHARP_DTYPE_FLOAT_SHORT) - 1; /* as of old: nothing short */
  caps->support_mask.reduce_ops = (1U << SHARP_OP_SUM) | (1U << SHARP_OP_MAXLOC);
  caps->resources.max_groups = 3;
  caps->resources.user_data_per_ost = 256;
  caps->resources.osts_per_group = 4;
  return 0;
}

int sharp_coll_comm_init(struct sharp_coll_context* context, struct sharp_coll_comm_init_spec* spec,
                         struct sharp_coll_comm** comm) {
  (void)context, (void)spec;
  if (old_library.group_error) return old_library.group_error;
  ++old_library.groups;
  *comm = (struct sharp_coll_comm*)&one;
  return 0;
}

int sharp_coll_comm_destroy(struct sharp_coll_comm* comm) {
  (void)comm;
  --old_library.groups;
  return 0;
}

static int post(void** handle) {
  if (old_library.outstanding >= old_library.room) return SHARP_COLL_ENO_RESOURCE;
  ++old_library.posted;
  if (++old_library.outstanding > old_library.most_outstanding)
    old_library.most_outstanding = old_library.outstanding;
  *handle = &one;
  return 0;
}

int sharp_coll_do_allreduce_nb(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec,
                               void** handle) {
  const struct sharp_data_iov* const source = &spec->sbuf_desc.buffer;
  const int error = post(handle);
  (void)comm;
  if (error) return error;
  if (old_library.next && old_library.next != source->ptr) ++old_library.gaps;
  old_library.next = (const char*)source->ptr + source->length;
  old_library.handle = source->mem_handle;
  old_library.bytes += source->length;
  old_library.length += spec->length;
  if (source->length > old_library.longest) old_library.longest = source->length;
  return 0;
}

int sharp_coll_do_barrier_nb(struct sharp_coll_comm* comm, void** handle) {
  (void)comm;
  return post(handle);
}

int sharp_coll_req_test(void* handle) {
  (void)handle;
  return old_library.outcome;
}

int sharp_coll_req_free(void* handle) {
  (void)handle;
  ++old_library.freed;
  --old_library.outstanding;
  return 0;
}

int sharp_coll_progress(struct sharp_coll_context* context) {
  (void)context;
  return 0;
}

int sharp_coll_reg_mr(struct sharp_coll_context* context, void* buf, size_t size, void** mr) {
  (void)context, (void)size;
  *mr = buf;
  ++old_library.registered;
  ++old_library.registrations;
  return 0;
}

int sharp_coll_dereg_mr(struct sharp_coll_context* context, void* mr) {
  (void)context, (void)mr;
  --old_library.registered;
  return 0;
}

const char* sharp_coll_strerror(int error) {
  return error == SHARP_COLL_EQUOTA ? "spent" : "other";
}
