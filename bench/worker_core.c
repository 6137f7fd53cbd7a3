// How long this node's worker process has run, as the kernel tells of any process.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// Of a node of the lab, which has one at most and sees no other's; 0: there is none.
static long find_worker(void) {
  DIR* processes = opendir("/proc");
  long found = 0;
  for (struct dirent* entry; processes && (entry = readdir(processes)) != NULL;)
    if (is_worker(entry->d_name)) found = strtol(entry->d_name, NULL, 10);
  if (processes) closedir(processes);
  return found;
}

double worker_core_now(void) {
  static long worker = -1;
  char path[64], text[64] = "";
  if (worker < 0) worker = find_worker();
  if (worker == 0) return 0;
  snprintf(path, sizeof path, "/proc/%ld/schedstat", worker);  // nanoseconds, and what else there is
  FILE* file = fopen(path, "r");
  if (!file) return 0;
  if (!fgets(text, sizeof text, file)) text[0] = '\0';
  fclose(file);
  return 1e-9 * strtod(text, NULL);
}
