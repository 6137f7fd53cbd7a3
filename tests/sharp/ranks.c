#include "ranks.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { slot_bytes = 256, seconds_of_a_rank = 40, most_words = 10 };

struct meeting {
  _Atomic int came, round;
  char slots[most_ranks][slot_bytes];
};

static struct meeting* meetings;
int world_rank, world_size, failures;
struct room world;

const struct sharp_coll_out_of_band_colls room_functions = {room_bcast, room_barrier, room_gather};

int room_barrier(void* context) {
  const struct room* const room = context;
  struct meeting* const meeting = &meetings[room->number];
  const int round = atomic_load(&meeting->round);
  if (atomic_fetch_add(&meeting->came, 1) + 1 == room->size) {
    atomic_store(&meeting->came, 0);
    atomic_store(&meeting->round, round + 1);
  } else {
    while (atomic_load(&meeting->round) == round) sched_yield();
  }
  return 0;
}

int room_gather(void* context, int root, void* own, void* of_all, int bytes) {
  const struct room* const room = context;
  struct meeting* const meeting = &meetings[room->number];
  if (bytes > slot_bytes) return -1;
  memcpy(meeting->slots[room->rank], own, (size_t)bytes);
  room_barrier(context);
  if (room->rank == root)
    for (int i = 0; i < room->size; ++i)
      memcpy((char*)of_all + (size_t)i * (size_t)bytes, meeting->slots[i], (size_t)bytes);
  return room_barrier(context);
}

int room_bcast(void* context, void* buffer, int bytes, int root) {
  const struct room* const room = context;
  struct meeting* const meeting = &meetings[room->number];
  if (bytes > slot_bytes) return -1;
  if (room->rank == root) memcpy(meeting->slots[root], buffer, (size_t)bytes);
  room_barrier(context);
  memcpy(buffer, meeting->slots[root], (size_t)bytes);
  return room_barrier(context);
}

/* The last check that was made, for the words about a rank that hangs. */
static struct {
  const char* file;
  int line;
} last;

static void say_where(int signal_number) {
  char words[200];
  const int length =  // NOLINTNEXTLINE(bugprone-signal-handler): the rank ends in any case
      snprintf(words, sizeof words, "rank %d hangs after %s:%d\n", world_rank, last.file, last.line);
  if (length > 0 && write(STDERR_FILENO, words, (size_t)length) < 0) _exit(2);
  _exit(128 + signal_number);
}

void check_at(int holds, const char* words, const char* file, int line) {
  last.file = file;
  last.line = line;
  if (holds) return;
  if (++failures <= most_words)
    fprintf(stderr, "%s:%d: rank %d: not so: %s\n", file, line, world_rank, words);
}

void check_code_at(int code, int expected, const char* words, const char* file, int line) {
  last.file = file;
  last.line = line;
  if (code == expected) return;
  if (++failures <= most_words)
    fprintf(stderr, "%s:%d: rank %d: %s is %d, not %d\n", file, line, world_rank, words, code, expected);
}

/* TEST_PLACES: of the leaf switches, with blanks between them; ranks take turns. */
static void go_to_leaf(int rank) {
  const char* const all = getenv("TEST_PLACES");
  char* const places = all ? strdup(all) : NULL;
  const char* leaves[most_ranks];
  int count = 0;
  for (char* place = places ? strtok(places, " ") : NULL; place && count < most_ranks;
       place = strtok(NULL, " "))
    leaves[count++] = place;
  if (count > 0) setenv("HOCKET_SWITCH", leaves[rank % count], 1);
  free(places);
}

int number_in(const char* variable) {
  const char* const text = getenv(variable);
  return text ? (int)strtol(text, NULL, 10) : 0;
}

static void be_rank(int rank, int ranks, void (*act)(void)) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGALRM, say_where);
  alarm(seconds_of_a_rank);
  world_rank = rank;
  world_size = ranks;
  world = (struct room){0, rank, ranks};
  go_to_leaf(rank);
  act();
  exit(failures != 0);
}

int run_ranks(int ranks, void (*act)(void)) {
  int failed = 0;
  meetings =
      mmap(NULL, most_rooms * sizeof *meetings, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (meetings == MAP_FAILED) return ranks;
  for (int rank = 0; rank < ranks; ++rank)
    if (fork() == 0) be_rank(rank, ranks, act);
  for (int status; wait(&status) > 0;) {
    failed += status != 0;
    if (WIFSIGNALED(status)) fprintf(stderr, "a rank ended by signal %d\n", WTERMSIG(status));
  }
  munmap(meetings, most_rooms * sizeof *meetings);
  return failed;
}

int try_context(struct sharp_coll_context** context) {
  struct sharp_coll_init_spec spec = {0};
  unsigned long job = (unsigned long)getpid();
  room_bcast(&world, &job, sizeof job, 0);
  spec.job_id = job;
  spec.world_rank = world_rank;
  spec.world_size = world_size;
  spec.config = sharp_coll_default_config;
  spec.oob_colls = room_functions;
  spec.oob_ctx = &world;
  return sharp_coll_init(&spec, context);
}

struct sharp_coll_context* open_context(void) {
  struct sharp_coll_context* context = NULL;
  CHECK_OK(try_context(&context));
  if (!context) exit(1);
  return context;
}

int try_communicator(struct sharp_coll_context* context, struct room* room, struct sharp_coll_comm** comm) {
  struct sharp_coll_comm_init_spec spec = {.rank = room->rank, .size = room->size, .oob_ctx = room};
  return sharp_coll_comm_init(context, &spec, comm);
}

struct sharp_coll_comm* open_communicator(struct sharp_coll_context* context, struct room* room) {
  struct sharp_coll_comm* comm = NULL;
  CHECK_OK(try_communicator(context, room, &comm));
  if (!comm) exit(1);
  return comm;
}
