/* SHARP's interface: collectives that are carried out by the switches between the hosts. This header was
 * written for Hocket, from the interface's facts (names, values, layouts on LP64); libsharp_coll.so beside it
 * carries the interface out with hocket-switch in the place of the switches: HOCKET_SWITCH=HOST:PORT says
 * where it is, HOCKET_SWITCH_KEY=FILE what it is proved with.
 *
 * All functions return SHARP_COLL_SUCCESS or a negative sharp_error_no, unless they say something else. */
#ifndef SHARP_API_SHARP_COLL_H
#define SHARP_API_SHARP_COLL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default) /* whatever else a program that defines or uses them hides */
#endif

/* ---- values ---- */

enum sharp_error_no {
  SHARP_COLL_SUCCESS = 0,
  SHARP_COLL_ERROR = -1,
  SHARP_COLL_ENOT_SUPP = -2,
  SHARP_COLL_ENOMEM = -3,
  SHARP_COLL_EGROUP_ALLOC = -4, /* no group is left */
  SHARP_COLL_ECONN_TREE = -5,   /* the switch was lost */
  SHARP_COLL_EGROUP_JOIN = -6,
  SHARP_COLL_EQUOTA = -7, /* the job has all that it may have */
  SHARP_COLL_ESESS_INIT = -8,
  SHARP_COLL_EDEV = -9,
  SHARP_COLL_EINVAL = -10,
  SHARP_COLL_EJOB_CREATE = -11, /* the tree is not reached, or does not take the job */
  SHARP_COLL_ETREE_INFO = -12,  /* the ranks were told different trees */
  SHARP_COLL_ENOTREE = -13,     /* nobody has said where the switch is */
  SHARP_COLL_EGROUP_ID = -14,
  SHARP_COLL_EOOB = -15, /* an out-of-band function failed, or there is none */
  SHARP_COLL_EGROUP_MCAST = -16,
  SHARP_COLL_EGROUP_TRIM = -17,
  SHARP_COLL_ELOCK_FAILED = -18, /* another job has locked the tree: may be tried again */
  SHARP_COLL_ELOCK_DENIED = -19, /* the tree is never locked */
  SHARP_COLL_ENO_RESOURCE = -20
};

enum sharp_datatype {
  SHARP_DTYPE_UNSIGNED = 0, /* 32 bits */
  SHARP_DTYPE_INT = 1,
  SHARP_DTYPE_UNSIGNED_LONG = 2, /* 64 bits */
  SHARP_DTYPE_LONG = 3,
  SHARP_DTYPE_FLOAT = 4,
  SHARP_DTYPE_DOUBLE = 5,
  SHARP_DTYPE_UNSIGNED_SHORT = 6,
  SHARP_DTYPE_SHORT = 7,
  SHARP_DTYPE_FLOAT_SHORT = 8, /* IEEE half */
  SHARP_DTYPE_BFLOAT16 = 9,
  SHARP_DTYPE_UINT8 = 10,
  SHARP_DTYPE_INT8 = 11,
  SHARP_DTYPE_NULL = 12
};

enum sharp_reduce_op {
  SHARP_OP_MAX = 0,
  SHARP_OP_MIN = 1,
  SHARP_OP_SUM = 2,
  SHARP_OP_PROD = 3,
  SHARP_OP_LAND = 4,
  SHARP_OP_BAND = 5,
  SHARP_OP_LOR = 6,
  SHARP_OP_BOR = 7,
  SHARP_OP_LXOR = 8,
  SHARP_OP_BXOR = 9,
  SHARP_OP_MAXLOC = 10, /* of pairs of a value and a tag: see sharp_coll_reduce_spec */
  SHARP_OP_MINLOC = 11,
  SHARP_OP_NULL = 12
};

/* How an operation goes. Members of a group that say different things for one operation get an error. */
enum sharp_aggregation_mode {
  SHARP_AGGREGATION_NONE = 0,     /* as the library decides, by size */
  SHARP_AGGREGATION_DATAGRAM = 1, /* in pieces of sharp_coll_caps.resources.user_data_per_ost bytes */
  SHARP_AGGREGATION_STREAMING = 2 /* in one stream, for which the tree is locked */
};

enum sharp_data_memory_type { SHARP_MEM_TYPE_HOST = 0, SHARP_MEM_TYPE_CUDA = 1, SHARP_MEM_TYPE_LAST = 2 };

enum sharp_data_buffer_type { SHARP_DATA_BUFFER = 0, SHARP_DATA_IOV = 1 };

/* Bits of sharp_coll_caps.support_mask.feature_mask. */
enum sharp_coll_feature {
  SHARP_FEATURE_LLT = 1 << 0,          /* datagram mode */
  SHARP_FEATURE_REPRODUCIBLE = 1 << 1, /* results do not depend on who comes first */
  SHARP_FEATURE_SAT = 1 << 2,          /* streaming mode; reduce-scatter and allgather are for it */
  SHARP_FEATURE_SAT_EXCLUSIVE_LOCK = 1 << 3
};

/* Bits of sharp_coll_config.flags. */
enum sharp_coll_init_flags {
  /* Say nothing of errors on standard error. */
  SHARP_COLL_HIDE_ERRORS = 1 << 0,
  /* Without effect: a group has all that is its at once. */
  SHARP_COLL_DISABLE_LAZY_GROUP_RESOURCE_ALLOC = 1 << 1
};

/* Bits of sharp_coll_reg_params.field_mask: what else is said. */
enum sharp_coll_reg_field {
  SHARP_COLL_REG_FIELD_DMABUF_FD = 1 << 0,
  SHARP_COLL_REG_FIELD_DMABUF_OFFSET = 1 << 1,
  SHARP_COLL_REG_FIELD_DMABUF_DATA_DIRECT = 1 << 2
};

#define SHARP_COLL_DATA_MAX_IOV 15

/* ---- contexts ---- */

struct sharp_coll_context;
struct sharp_coll_comm;

/* How ranks talk before they have the switch. The library calls them in sharp_coll_init, with the init spec's
 * oob_ctx, and in sharp_coll_comm_init, with that spec's; nowhere else. They return 0, or something else for
 * an error. */
struct sharp_coll_out_of_band_colls {
  int (*bcast)(void* ctx, void* buf, int len, int root);
  int (*barrier)(void* ctx);
  int (*gather)(void* ctx, int root, void* sbuf, void* rbuf, int len); /* `len` bytes of each rank */
};

struct sharp_coll_config {
  /* Not used: HOCKET_SWITCH says where the switch is. */
  const char* ib_dev_list;
  /* So often a blocking function looks for news before it calls progress_func and rests. */
  int user_progress_num_polls;
  /* Seconds in which a blocking collective has to hear something new, or its communicator fails; 0: any.
   * A switch that does not answer when a communicator is made is waited for no longer, and never for ever. */
  int coll_timeout;
  unsigned int flags; /* sharp_coll_init_flags */
  int reserved[3];
};

/* What a caller starts from. */
extern const struct sharp_coll_config sharp_coll_default_config;

struct sharp_coll_init_spec {
  uint64_t job_id; /* rank 0's is taken */
  int world_rank;
  int world_size;
  int (*progress_func)(void); /* called by blocking functions that wait; may be NULL */
  int group_channel_idx;
  struct sharp_coll_config config;
  struct sharp_coll_out_of_band_colls oob_colls;
  int world_local_rank;
  int enable_thread_support; /* else one thread calls at a time */
  void* oob_ctx;             /* handed on, whatever it is */
  int reserved[4];
};

/* Of all ranks, once. All get the same verdict; after an error there is no context. */
int sharp_coll_init(struct sharp_coll_init_spec* spec, struct sharp_coll_context** context);

/* Ends it: its communicators too, and their operations with an error. */
int sharp_coll_finalize(struct sharp_coll_context* context);

struct sharp_coll_caps {
  int sharp_pkt_version;
  uint64_t reserved[2];
  struct {
    uint64_t dtypes;       /* bits 1 << sharp_datatype */
    uint64_t tag_dtypes;   /* the same, as tags of MAXLOC and MINLOC */
    uint64_t reduce_ops;   /* bits 1 << sharp_reduce_op; logical and bitwise ones are for integers */
    uint64_t feature_mask; /* sharp_coll_feature */
    uint64_t reserved[4];
  } support_mask;
  struct {
    int max_osts;          /* operations outstanding in datagram mode, of all groups */
    int user_data_per_ost; /* bytes of each */
    int max_groups;
    int max_group_channels;
    int osts_per_group;
  } resources;
};

/* What the tree gives this job, within what the environment allows; the same on all ranks. */
int sharp_coll_caps_query(struct sharp_coll_context* context, struct sharp_coll_caps* caps);

/* Goes on with all that is outstanding. Not needed by who calls sharp_coll_req_test, which does so, too. */
int sharp_coll_progress(struct sharp_coll_context* context);

/* ---- communicators ---- */

struct sharp_coll_comm_init_spec {
  int rank;
  int size;
  void* oob_ctx; /* handed on to the out-of-band functions, for the members of this communicator */
  const uint32_t* group_world_ranks; /* not looked at */
  int reserved[2];
};

/* Of all its members: makes a group of the tree. All get the same verdict. */
int sharp_coll_comm_init(struct sharp_coll_context* context, struct sharp_coll_comm_init_spec* spec,
                         struct sharp_coll_comm** comm);

/* Waits for nobody. What is outstanding ends with an error. */
int sharp_coll_comm_destroy(struct sharp_coll_comm* comm);

/* ---- memory ---- */

struct sharp_coll_reg_params {
  uint64_t field_mask; /* sharp_coll_reg_field */
  int dmabuf_fd;
  size_t dmabuf_offset;
};

/* Registration is for network cards: here handles are given out and not looked at again, and no function
 * needs one. Memory of devices is refused: reg_mr_v2 with a dmabuf's descriptor is SHARP_COLL_ENOT_SUPP. */
int sharp_coll_reg_mr(struct sharp_coll_context* context, void* buf, size_t size, void** mr);
int sharp_coll_reg_mr_v2(struct sharp_coll_context* context, void* buf, size_t size,
                         const struct sharp_coll_reg_params* params, void** mr);
int sharp_coll_dereg_mr(struct sharp_coll_context* context, void* mr);

/* ---- collectives ---- */

struct sharp_data_iov {
  void* ptr;
  size_t length;
  void* mem_handle;
};

struct sharp_coll_data_desc {
  enum sharp_data_buffer_type type; /* SHARP_DATA_BUFFER: nothing else is supported */
  enum sharp_data_memory_type mem_type;
  int reserved[2];
  union {
    struct sharp_data_iov buffer; /* its `length` is what counts, wherever else a spec has a size */
    struct {
      int count;
      struct sharp_data_iov* vector;
    } iov;
  };
};

/* MAXLOC and MINLOC are of pairs, each a C struct of a value of `dtype` and a tag of `tag_dtype`, with its
 * padding, as MPI's pair types are. The tag is an int, the value a float, double, long, int or short. The
 * better value wins, and of equal ones that with the lower tag. */
struct sharp_coll_reduce_spec {
  int root; /* of sharp_coll_do_reduce */
  struct sharp_coll_data_desc sbuf_desc;
  /* In place: the same. Of sharp_coll_do_reduce only the root's is looked at. */
  struct sharp_coll_data_desc rbuf_desc;
  enum sharp_datatype dtype;
  size_t length; /* elements; not looked at: callers do not agree of what */
  enum sharp_reduce_op op;
  enum sharp_datatype tag_dtype;
  enum sharp_aggregation_mode aggr_mode;
  /* Not looked at: SHARP_COLL_SAT_LOCK_BATCH_SIZE says it for all members alike. */
  int stream_lock_batch_size;
  size_t offset; /* of sharp_coll_do_reduce_scatter: see there */
  int reserved[2];
};

struct sharp_coll_bcast_spec {
  int root;
  struct sharp_coll_data_desc buf_desc;
  size_t size; /* bytes; not looked at */
  int reserved[4];
};

struct sharp_coll_gather_spec {
  struct sharp_coll_data_desc sbuf_desc;
  struct sharp_coll_data_desc rbuf_desc;
  enum sharp_datatype dtype; /* not looked at: bytes are copied */
  size_t size;               /* not looked at */
  size_t offset;             /* of the window: see sharp_coll_do_allgather */
  int reserved[4];
};

/* All members of a communicator call the same collectives on it in the same order, with the same sizes,
 * types, operations and modes. The blocking ones return the outcome. The others return whether the operation
 * could be posted, and a request, which must be freed; a posted operation that fails (the switch is lost, a
 * member has ended, the lock is not to be had) ends, too: with sharp_coll_req_test or sharp_coll_req_wait one
 * sees how.
 *
 * Reduce-scatter and allgather are of a vector of as many blocks as there are members. Callers that go
 * through it window by window say which bytes of it the long buffer (sbuf_desc of reduce-scatter, rbuf_desc
 * of allgather) holds: `offset` is the first of them. The short buffer is always the rank's whole block. If
 * the long buffer has all blocks, `offset` does not matter. */
int sharp_coll_do_barrier(struct sharp_coll_comm* comm);
int sharp_coll_do_barrier_nb(struct sharp_coll_comm* comm, void** handle);
int sharp_coll_do_allreduce(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec);
int sharp_coll_do_allreduce_nb(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec,
                               void** handle);
int sharp_coll_do_reduce(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec);
int sharp_coll_do_reduce_nb(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec, void** handle);
int sharp_coll_do_reduce_scatter(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec);
int sharp_coll_do_reduce_scatter_nb(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec,
                                    void** handle);
int sharp_coll_do_allgather(struct sharp_coll_comm* comm, struct sharp_coll_gather_spec* spec);
int sharp_coll_do_allgather_nb(struct sharp_coll_comm* comm, struct sharp_coll_gather_spec* spec,
                               void** handle);
int sharp_coll_do_bcast(struct sharp_coll_comm* comm, struct sharp_coll_bcast_spec* spec);
int sharp_coll_do_bcast_nb(struct sharp_coll_comm* comm, struct sharp_coll_bcast_spec* spec, void** handle);

/* 0: not yet. Else it is complete: 1, or the negative error that it ended with. Goes on with all that is
 * outstanding. */
int sharp_coll_req_test(void* handle);
/* Waits, frees the request, and returns the outcome. */
int sharp_coll_req_wait(void* handle);
/* One that is not complete yet goes on without its caller, whose buffers must stay. */
int sharp_coll_req_free(void* handle);

/* ---- words for people ---- */

/* Never NULL. */
const char* sharp_coll_strerror(int error);

enum config_print_flags { SHARP_COLL_CONFIG_PRINT_ALL = 0 };

/* The variables that the library reads, with their values. `exec_name` may be NULL. */
int sharp_coll_print_config(FILE* stream, enum config_print_flags print_flags, const char* exec_name);
/* What this rank did so far, on standard error. */
int sharp_coll_dump_stats(struct sharp_coll_context* context);
/* Does nothing: the level of what is said is read in sharp_coll_init. */
void sharp_coll_log_early_init(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
