// The worker process of this job, found by what hocket-exec has given it.
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static inline int file_contains(const char* path, const char* text) {
  static char bytes[1 << 16];
  FILE* file = fopen(path, "r");
  if (!file) return 0;
  const size_t length = fread(bytes, 1, sizeof bytes - 1, file);
  fclose(file);
  for (size_t i = 0; i < length; ++i)  // variables end with zeros
    if (bytes[i] == '\0') bytes[i] = '\n';
  bytes[length] = '\0';
  return strstr(bytes, text) != NULL;
}

// The process that has this number among those with one of this job's secrets; 0: there is none. On local
// rank 0.
static inline pid_t numbered_worker_process(int number) {
  static char where[128];
  const char* secret = getenv("HOCKET_WORKER");
  for (; secret && number > 0; --number) {
    secret = strchr(secret, ',');
    if (secret) ++secret;
  }
  if (!secret) return 0;
  snprintf(where, sizeof where, "HOCKET_WORKER=%.*s\n", (int)strcspn(secret, ","), secret);
  DIR* processes = opendir("/proc");
  pid_t found = 0;
  for (struct dirent* entry; where[0] && processes && (entry = readdir(processes)) != NULL;) {
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
    if (!file_contains(path, "hocketd")) continue;
    snprintf(path, sizeof path, "/proc/%s/environ", entry->d_name);
    if (file_contains(path, where)) found = (pid_t)strtol(entry->d_name, NULL, 10);
  }
  if (processes) closedir(processes);
  return found;
}

// The only one, or the first of several.
static inline pid_t worker_process(void) {
  return numbered_worker_process(0);
}

// The process that works for this job at the service that dev/with_remote_worker.py has started; 0: there is
// none.
static inline pid_t remote_worker_process(void) {
  const char* service = getenv("TEST_WORKER_SERVICE");
  char path[300];
  snprintf(path, sizeof path, "/proc/%s/task/%s/children", service ? service : "", service ? service : "");
  FILE* file = fopen(path, "r");
  char first[32] = "";
  if (file && !fgets(first, sizeof first, file)) first[0] = '\0';
  if (file) fclose(file);
  return (pid_t)strtol(first, NULL, 10);
}
