/* Ranks as forked processes, and the out-of-band functions that callers of SHARP's interface bring: over
 * shared memory. */
#ifndef HOCKET_TESTS_SHARP_RANKS_H
#define HOCKET_TESTS_SHARP_RANKS_H

#include <sharp/api/sharp_coll.h>

enum { most_ranks = 32, most_rooms = 16 };

/* Where the members of one communicator meet. */
struct room {
  int number; /* the same for all members, and for no two communicators at a time */
  int rank, size;
};

extern int world_rank, world_size;
extern int failures; /* of this rank */

/* Runs `act` as so many ranks. The number of those that failed; each has 40 seconds. */
int run_ranks(int ranks, void (*act)(void));

int room_bcast(void* room, void* buffer, int bytes, int root);
int room_barrier(void* room);
int room_gather(void* room, int root, void* own, void* of_all, int bytes);
extern const struct sharp_coll_out_of_band_colls room_functions;
extern struct room world;

/* Counts a failure, and says where; not more than a few. */
void check_at(int holds, const char* words, const char* file, int line);
#define CHECK(condition) check_at(!!(condition), #condition, __FILE__, __LINE__)
/* The same for an error of SHARP's. */
void check_code_at(int code, int expected, const char* words, const char* file, int line);
#define CHECK_CODE(expression, expected) \
  check_code_at((expression), (expected), #expression, __FILE__, __LINE__)
#define CHECK_OK(expression) CHECK_CODE(expression, SHARP_COLL_SUCCESS)

/* Of a variable; 0 where it is not set. */
int number_in(const char* variable);

/* What most areas begin and end with: as UCC fills it. Null where init failed. */
struct sharp_coll_context* open_context(void);
int try_context(struct sharp_coll_context** context);
struct sharp_coll_comm* open_communicator(struct sharp_coll_context* context, struct room* room);
int try_communicator(struct sharp_coll_context* context, struct room* room, struct sharp_coll_comm** comm);

#endif
