// What LogGP parameters are fitted to: round trips of n messages of s bytes, d apart, with one answer after
// the last, PRTT(n, d, s) (Hoefler, Lichei, Rehm 2007). For each level of the machine rank 0 measures with
// one rank that is that near to it, while all others sleep. Of the largest sizes also exchanges, n messages
// each way at the same time. JSON lines; python/hocket/loggp fits.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { messages = 16, least_trials = 7, most_trials = 100, room = 1 << 20 };
static const double trials_seconds = 20e-3;

static int rank, ranks, most_bytes = room;
static char* buffer;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Where a rank is: its node, and the CPUs that share its last cache (-1 where it may run on several caches).
struct place {
  int node, cache;
};

static int first_cpu_in(const char* path) {
  char text[64] = "";
  FILE* file = fopen(path, "r");
  if (!file) return -1;
  const bool read = fgets(text, sizeof text, file) != NULL;
  fclose(file);
  return read ? (int)strtol(text, NULL, 10) : -1;
}

static int last_cache_of(int cpu) {
  char path[128];
  int first = -1;
  for (int index = 3; index >= 2 && first < 0; --index) {
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
    first = first_cpu_in(path);
  }
  return first;
}

static int own_cache(void) {
  cpu_set_t allowed;
  int found = -1;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const int cache = last_cache_of(cpu);
    if (cache < 0 || (found >= 0 && cache != found)) return -1;
    found = cache;
  }
  return found;
}

// HOCKET_NODE_SIZE=k takes every k ranks for a node.
static int pretended_node_size(void) {
  const char* text = getenv("HOCKET_NODE_SIZE");
  return text ? (int)strtol(text, NULL, 10) : 0;
}

static int own_node(void) {
  const int pretended = pretended_node_size();
  if (pretended > 0) return rank / pretended;
  MPI_Comm node;
  int lowest = rank;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Bcast(&lowest, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  return lowest;
}

enum level { cache, node, network, levels };
static const char* const level_names[levels] = {"cache", "node", "network"};

static enum level level_of(struct place a, struct place b) {
  if (a.node != b.node) return network;
  return a.cache >= 0 && a.cache == b.cache ? cache : node;
}

static void busy_wait(double seconds) {
  const double end = now() + seconds;
  while (now() < end) {
  }
}

static void answer(int client, int count, int bytes) {
  MPI_Request requests[messages];
  for (int i = 0; i < count; ++i)
    MPI_Irecv(buffer + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, client, 1, MPI_COMM_WORLD, &requests[i]);
  MPI_Send(NULL, 0, MPI_BYTE, client, 2, MPI_COMM_WORLD);  // ready
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  MPI_Send(buffer, bytes, MPI_BYTE, client, 1, MPI_COMM_WORLD);
}

static double ask(int server, int count, double apart, int bytes) {
  MPI_Recv(NULL, 0, MPI_BYTE, server, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double start = now();
  for (int i = 0; i < count; ++i) {
    if (i > 0 && apart > 0) busy_wait(apart);
    MPI_Send(buffer, bytes, MPI_BYTE, server, 1, MPI_COMM_WORLD);
  }
  MPI_Recv(buffer, bytes, MPI_BYTE, server, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return now() - start;
}

// What goes and what comes must not be the same memory: the last room is for what goes.
static double exchange(int partner, int count, int bytes) {
  MPI_Request requests[2 * messages];
  for (int i = 0; i < count; ++i)
    MPI_Irecv(buffer + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[i]);
  MPI_Sendrecv(NULL, 0, MPI_BYTE, partner, 2, NULL, 0, MPI_BYTE, partner, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);  // ready
  const double start = now();
  const char* own = buffer + (size_t)messages * room;
  for (int i = 0; i < count; ++i)
    MPI_Isend(own, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[count + i]);
  MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
  return now() - start;
}

// Least times of three kinds of round trip: one message, all at once, all `apart`; and of exchanges, 0 where
// there were none.
struct times {
  double one, many, apart, spaced, both_one, both_many;
};

struct burst {
  int count;
  double apart;
  int bytes;
  bool both_ways;
};

static double once(int partner, bool client, struct burst burst) {
  if (burst.both_ways) return exchange(partner, burst.count, burst.bytes);
  if (client) return ask(partner, burst.count, burst.apart, burst.bytes);
  answer(partner, burst.count, burst.bytes);
  return 0;
}

static double least(int partner, bool client, struct burst burst) {
  double best = 1e9, spent = 0;
  int more = 1;
  for (int trial = 0; more; ++trial) {
    const double taken = once(partner, client, burst);
    if (client) {
      best = taken < best ? taken : best;
      spent += taken;
      more = trial < least_trials || (trial < most_trials && spent < trials_seconds);
      MPI_Send(&more, 1, MPI_INT, partner, 3, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&more, 1, MPI_INT, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  return best;
}

// `apart` is so long that no message waits for the one before.
static struct times round_trips(int partner, bool client, int bytes) {
  struct times t = {0};
  t.one = least(partner, client, (struct burst){1, 0, bytes, false});
  t.many = least(partner, client, (struct burst){messages, 0, bytes, false});
  t.apart = t.one;
  t.spaced = least(partner, client, (struct burst){messages, t.apart, bytes, false});
  if (bytes < most_bytes / 4) return t;  // too few to fill a link both ways
  t.both_one = least(partner, client, (struct burst){1, 0, bytes, true});
  t.both_many = least(partner, client, (struct burst){messages, 0, bytes, true});
  return t;
}

static void print_times(enum level level, int bytes, struct times t) {
  printf("{\"level\": \"%s\", \"bytes\": %d, \"n\": %d, \"one\": %.1f, \"many\": %.1f, \"apart\": %.1f, ",
         level_names[level], bytes, messages, 1e9 * t.one, 1e9 * t.many, 1e9 * t.apart);
  printf("\"spaced\": %.1f, \"both_one\": %.1f, \"both_many\": %.1f}\n", 1e9 * t.spaced, 1e9 * t.both_one,
         1e9 * t.both_many);
  fflush(stdout);
}

// 1, 2, 3, 4, 6, 8, 12, ...: two sizes for each power of two.
static int next_size(int bytes) {
  const bool power_of_two = (bytes & (bytes - 1)) == 0;
  return bytes < 4 ? bytes + 1 : power_of_two ? bytes / 2 * 3 : bytes / 3 * 4;
}

enum { most_sizes = 64, sweeps = 3 };

static void keep_least(double* best, double found, bool first) {
  if (first || found < *best) *best = found;
}

// Several sweeps over all sizes: a moment in which the machine is busy spoils no size for good.
static void measure_pair(enum level level, int partner, bool client) {
  struct times best[most_sizes];
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    int i = 0;
    for (int bytes = 1; bytes <= most_bytes; bytes = next_size(bytes), ++i) {
      const struct times t = round_trips(partner, client, bytes);
      const bool better =
          sweep == 0 || t.spaced - t.apart * (messages - 1) < best[i].spaced - best[i].apart * (messages - 1);
      if (better) best[i].apart = t.apart, best[i].spaced = t.spaced;
      keep_least(&best[i].one, t.one, sweep == 0);
      keep_least(&best[i].many, t.many, sweep == 0);
      keep_least(&best[i].both_one, t.both_one, sweep == 0);
      keep_least(&best[i].both_many, t.both_many, sweep == 0);
    }
  }
  for (int bytes = 1, i = 0; client && bytes <= most_bytes; bytes = next_size(bytes), ++i)
    print_times(level, bytes, best[i]);
}

// The others must not take CPU time from the two that measure.
static void sleep_until_all_are_here(void) {
  MPI_Request arrival;
  int done = 0;
  MPI_Ibarrier(MPI_COMM_WORLD, &arrival);
  const struct timespec nap = {0, 1000000};
  for (MPI_Test(&arrival, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&arrival, &done, MPI_STATUS_IGNORE))
    nanosleep(&nap, NULL);
}

static void measure_level(const struct place* places, enum level level) {
  int partner = 1;
  while (partner < ranks && level_of(places[0], places[partner]) != level) ++partner;
  if (partner < ranks && rank == 0) measure_pair(level, partner, true);
  if (partner < ranks && rank == partner) measure_pair(level, 0, false);
  sleep_until_all_are_here();
}

// ns per byte of copying, and of adding to an operand, in memory that is not in the nearest caches.
static double per_byte(bool reduce) {
  double* values = (double*)(void*)buffer;
  const size_t bytes = (size_t)messages * room / 2, count = bytes / sizeof(double);
  memset(buffer, 1, 2 * bytes);  // else all pages are the one page of zeros
  double best = 1e9;
  for (int trial = 0; trial < 10; ++trial) {
    const double start = now();
    if (reduce)
      for (size_t i = 0; i < count; ++i) values[i] += values[count + i];
    else
      memcpy(values, values + count, bytes);
    __asm__ volatile("" ::"r"(values) : "memory");
    const double taken = now() - start;
    best = taken < best ? taken : best;
  }
  return 1e9 * best / (double)bytes;
}

static int ranks_within(const struct place* places, enum level level) {
  int count = 0;
  for (int r = 0; r < ranks; ++r) count += level_of(places[0], places[r]) <= level || r == 0;
  return count;
}

static void print_machine(const struct place* places) {
  printf("{\"ranks\": %d, \"cache_ranks\": %d, \"node_ranks\": %d, \"pretended_node_size\": %d, ", ranks,
         ranks_within(places, cache), ranks_within(places, node), pretended_node_size());
  printf("\"copy\": %.4f, \"reduce\": %.4f}\n", per_byte(false), per_byte(true));
}

static int measure(void) {
  const struct place own = {own_node(), own_cache()};
  struct place* places = malloc((size_t)ranks * sizeof *places);
  if (!places) return 1;
  MPI_Allgather(&own, 2, MPI_INT, places, 2, MPI_INT, MPI_COMM_WORLD);
  if (rank == 0) print_machine(places);
  for (enum level level = cache; level < levels; ++level) measure_level(places, level);
  free(places);
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1) most_bytes = (int)strtol(argv[1], NULL, 10);
  buffer = calloc(messages + 1, room);
  const bool possible = buffer && most_bytes > 0 && most_bytes <= room;
  if (!possible || measure() != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  free(buffer);
  MPI_Finalize();
  return 0;
}
