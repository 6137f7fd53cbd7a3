/* The binary interface, as facts: sizes and offsets on LP64. Included by a C and a C++ program. */
#ifndef HOCKET_TESTS_SHARP_LAYOUT_H
#define HOCKET_TESTS_SHARP_LAYOUT_H

#include <stddef.h>

#include <sharp/api/sharp.h>

#ifdef __cplusplus
#define AT(kind, member, offset) static_assert(offsetof(struct kind, member) == (offset), #kind "." #member)
#define HAS_SIZE(kind, bytes) static_assert(sizeof(struct kind) == (bytes), #kind)
#define IS(name, number) static_assert((name) == (number), #name)
#else
#define AT(kind, member, offset) _Static_assert(offsetof(struct kind, member) == (offset), #kind "." #member)
#define HAS_SIZE(kind, bytes) _Static_assert(sizeof(struct kind) == (bytes), #kind)
#define IS(name, number) _Static_assert((name) == (number), #name)
#endif

HAS_SIZE(sharp_coll_config, 32);
AT(sharp_coll_config, ib_dev_list, 0);
AT(sharp_coll_config, user_progress_num_polls, 8);
AT(sharp_coll_config, coll_timeout, 12);
AT(sharp_coll_config, flags, 16);

HAS_SIZE(sharp_coll_out_of_band_colls, 24);
AT(sharp_coll_out_of_band_colls, bcast, 0);
AT(sharp_coll_out_of_band_colls, barrier, 8);
AT(sharp_coll_out_of_band_colls, gather, 16);

HAS_SIZE(sharp_coll_init_spec, 120);
AT(sharp_coll_init_spec, job_id, 0);
AT(sharp_coll_init_spec, world_rank, 8);
AT(sharp_coll_init_spec, world_size, 12);
AT(sharp_coll_init_spec, progress_func, 16);
AT(sharp_coll_init_spec, group_channel_idx, 24);
AT(sharp_coll_init_spec, config, 32);
AT(sharp_coll_init_spec, oob_colls, 64);
AT(sharp_coll_init_spec, world_local_rank, 88);
AT(sharp_coll_init_spec, enable_thread_support, 92);
AT(sharp_coll_init_spec, oob_ctx, 96);

HAS_SIZE(sharp_coll_comm_init_spec, 32);
AT(sharp_coll_comm_init_spec, rank, 0);
AT(sharp_coll_comm_init_spec, size, 4);
AT(sharp_coll_comm_init_spec, oob_ctx, 8);
AT(sharp_coll_comm_init_spec, group_world_ranks, 16);

HAS_SIZE(sharp_coll_caps, 112);
AT(sharp_coll_caps, sharp_pkt_version, 0);
AT(sharp_coll_caps, support_mask.dtypes, 24);
AT(sharp_coll_caps, support_mask.tag_dtypes, 32);
AT(sharp_coll_caps, support_mask.reduce_ops, 40);
AT(sharp_coll_caps, support_mask.feature_mask, 48);
AT(sharp_coll_caps, resources.max_osts, 88);
AT(sharp_coll_caps, resources.user_data_per_ost, 92);
AT(sharp_coll_caps, resources.max_groups, 96);
AT(sharp_coll_caps, resources.max_group_channels, 100);
AT(sharp_coll_caps, resources.osts_per_group, 104);

HAS_SIZE(sharp_coll_data_desc, 40);
AT(sharp_coll_data_desc, type, 0);
AT(sharp_coll_data_desc, mem_type, 4);
AT(sharp_coll_data_desc, buffer.ptr, 16);
AT(sharp_coll_data_desc, buffer.length, 24);
AT(sharp_coll_data_desc, buffer.mem_handle, 32);

HAS_SIZE(sharp_coll_reduce_spec, 136);
AT(sharp_coll_reduce_spec, root, 0);
AT(sharp_coll_reduce_spec, sbuf_desc, 8);
AT(sharp_coll_reduce_spec, rbuf_desc, 48);
AT(sharp_coll_reduce_spec, dtype, 88);
AT(sharp_coll_reduce_spec, length, 96);
AT(sharp_coll_reduce_spec, op, 104);
AT(sharp_coll_reduce_spec, tag_dtype, 108);
AT(sharp_coll_reduce_spec, aggr_mode, 112);
AT(sharp_coll_reduce_spec, stream_lock_batch_size, 116);
AT(sharp_coll_reduce_spec, offset, 120);

HAS_SIZE(sharp_coll_bcast_spec, 72);
AT(sharp_coll_bcast_spec, root, 0);
AT(sharp_coll_bcast_spec, buf_desc, 8);
AT(sharp_coll_bcast_spec, size, 48);

HAS_SIZE(sharp_coll_gather_spec, 120);
AT(sharp_coll_gather_spec, sbuf_desc, 0);
AT(sharp_coll_gather_spec, rbuf_desc, 40);
AT(sharp_coll_gather_spec, dtype, 80);
AT(sharp_coll_gather_spec, size, 88);
AT(sharp_coll_gather_spec, offset, 96);

HAS_SIZE(sharp_coll_reg_params, 24);
AT(sharp_coll_reg_params, field_mask, 0);
AT(sharp_coll_reg_params, dmabuf_fd, 8);
AT(sharp_coll_reg_params, dmabuf_offset, 16);

IS(SHARP_COLL_EGROUP_ALLOC, -4);
IS(SHARP_COLL_EQUOTA, -7);
IS(SHARP_COLL_EINVAL, -10);
IS(SHARP_COLL_EJOB_CREATE, -11);
IS(SHARP_COLL_ENOTREE, -13);
IS(SHARP_COLL_ELOCK_FAILED, -18);
IS(SHARP_COLL_ENO_RESOURCE, -20);
IS(SHARP_DTYPE_BFLOAT16, 9);
IS(SHARP_DTYPE_INT8, 11);
IS(SHARP_DTYPE_NULL, 12);
IS(SHARP_OP_SUM, 2);
IS(SHARP_OP_MAXLOC, 10);
IS(SHARP_OP_NULL, 12);
IS(SHARP_FEATURE_SAT, 4);
IS(SHARP_FEATURE_SAT_EXCLUSIVE_LOCK, 8);
IS(SHARP_AGGREGATION_STREAMING, 2);
IS(SHARP_MEM_TYPE_CUDA, 1);

#if SHARP_API <= SHARP_VERSION(3, 6)
#error "above 3.0 UCC has types of 8 bits, above 3.6 NCCL has messages of more than 512 MiB"
#endif

#endif
