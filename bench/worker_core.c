// How long this node's worker processes have run, as the kernel tells of any process, and the processes of
// its card, as it tells of a control group.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nonblocking_lanes.h"

static bool is_worker(const char* pid) {
  char path[64], name[32] = "";
  snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
  FILE* file = fopen(path, "r");
  if (!file) return false;
  const bool is = fgets(name, sizeof name, file) && strcmp(name, "hocketd\n") == 0;
  fclose(file);
  return is;
}

// Of a node of the lab, which sees no other's.
static int find_workers(long* found, int most) {
  DIR* processes = opendir("/proc");
  int count = 0;
  for (struct dirent* entry; count < most && processes && (entry = readdir(processes)) != NULL;)
    if (is_worker(entry->d_name)) found[count++] = strtol(entry->d_name, NULL, 10);
  if (processes) closedir(processes);
  return count;
}

static double core_of(long process) {
  char path[64], text[64] = "";
  snprintf(path, sizeof path, "/proc/%ld/schedstat", process);  // nanoseconds, and what else there is
  FILE* file = fopen(path, "r");
  if (!file) return 0;
  if (!fgets(text, sizeof text, file)) text[0] = '\0';
  fclose(file);
  return 1e-9 * strtod(text, NULL);
}

double worker_core_now(void) {
  enum { most_workers = 16 };
  static long workers[most_workers];
  static int count = -1;
  double time = 0;
  if (count < 0) count = find_workers(workers, most_workers);
  for (int i = 0; i < count; ++i) time += core_of(workers[i]);
  return time;
}

// A file of the control group of this node's card: BENCH_CARDS is the folder of all cards of the lab.
static FILE* file_of_card(const char* name) {
  const char* cards = getenv("BENCH_CARDS");
  char node[64] = "", path[512];
  if (!cards || gethostname(node, sizeof node - 1) != 0) return NULL;
  snprintf(path, sizeof path, "%s/%s-card/%s", cards, node, name);
  return fopen(path, "r");
}

// Nanoseconds with version 1 of control groups; "usage_usec 12" is the first line with version 2.
double card_core_now(void) {
  double time = 0;
  FILE* file = file_of_card("cpuacct.usage");
  const double unit = file ? 1e-9 : 1e-6;
  if (!file) file = file_of_card("cpu.stat");
  if (!file) return 0;
  if (fscanf(file, unit < 1e-6 ? "%lf" : "usage_usec %lf", &time) != 1) time = 0;
  fclose(file);
  return unit * time;
}
