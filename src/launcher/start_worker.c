#define _GNU_SOURCE
#include "launcher/start_worker.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  entrance_digits = 32,
  entrance_size = 2 * entrance_digits + 2
}; /* of a name and of a secret: engine/handover/door.hpp, as the next */
enum { most_workers = 16, most_files = 4096, patience_ms = 10000 };

long workers_asked_for(void) {
  const char* value = getenv("HOCKET_WORKERS");
  const long wanted = value != NULL ? strtol(value, NULL, 10) : 0;
  return wanted < most_workers ? wanted : most_workers;
}

/* Launchers tell each process its rank on the node in one of these; without any there is one rank. */
static bool is_local_rank_0(void) {
  static const char* const variables[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMIX_LOCAL_RANK",
                                          "SLURM_LOCALID"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
    const char* rank = getenv(variables[i]);
    if (rank != NULL) return strcmp(rank, "0") == 0;
  }
  const char* job = getenv("HOCKET_JOB"); /* KEY:LOCAL_RANK:LOCAL_SIZE */
  const char* size = job != NULL ? strrchr(job, ':') : NULL;
  return size == NULL || (size - job >= 2 && strncmp(size - 2, ":0", 2) == 0);
}

static bool invent_entrance(char text[entrance_size]) {
  unsigned char random[entrance_digits];
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
  char* at = text;
  for (size_t i = 0; i < sizeof random; ++i) {
    if (i == sizeof random / 2) *at++ = ':';
    at += sprintf(at, "%02x", random[i]);
  }
  return true;
}

/* Its standard streams are nobody's: mpirun waits until all who have the job's are gone. But for standard
 * error, until it serves: then it says so, as the last of its words, and gives that up. */
static void let_go_of_everything(int errors) {
  const int nowhere = open("/dev/null", O_RDWR);
  for (int stream = 0; stream < 2; ++stream)
    if (nowhere < 0 || dup2(nowhere, stream) < 0) close(stream);
  dup2(errors, 2);
  for (int file = 3; file < most_files; ++file) close(file);
}

static void become_worker(const char* path, const char* employer, int errors) {
  setsid();
  if (fork() != 0) _exit(0); /* no child of the rank's: programs that wait for any child would find it */
  let_go_of_everything(errors);
  unsetenv("LD_PRELOAD");
  execl(path, "hocketd", "--for", employer, (char*)NULL);
  _exit(127);
}

/* All that it says until it serves or has ended; what is too long is cut off at the front. */
static void read_words(int from, char* text, size_t size) {
  size_t length = 0;
  struct pollfd waited = {.fd = from, .events = POLLIN};
  while (poll(&waited, 1, patience_ms) > 0) {
    if (length + 1 == size) memmove(text, text + size / 2, length -= size / 2);
    const ssize_t more = read(from, text + length, size - 1 - length);
    if (more <= 0) break;
    length += (size_t)more;
  }
  text[length] = '\0';
}

/* The last line, without its end. */
static char* last_line(char* text) {
  size_t length = strlen(text);
  while (length > 0 && text[length - 1] == '\n') text[--length] = '\0';
  char* line = strrchr(text, '\n');
  return line != NULL ? line + 1 : text;
}

static const char* start(const char* path) {
  static char words[1024];
  char employer[16];
  snprintf(employer, sizeof employer, "%d", (int)getpid());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) become_worker(path, employer, ends[1]);
  close(ends[1]);
  if (child > 0) waitpid(child, NULL, 0);
  read_words(ends[0], words, sizeof words);
  close(ends[0]);
  if (child < 0) return "no process for hocketd";
  const char* line = last_line(words);
  if (strcmp(line, "ready") == 0) return NULL; /* libraries may have warned of something before */
  return *line != '\0' ? line : "hocketd does not start";
}

const char* start_worker(const char* folder) {
  unsetenv("HOCKET_WORKER"); /* of another job, around this one */
  const long wanted = workers_asked_for();
  if (wanted <= 0 || !is_local_rank_0()) return NULL;
  char path[PATH_MAX + 16];
  snprintf(path, sizeof path, "%s/hocketd", folder);
  if (access(path, X_OK) != 0) return "hocketd is not there";
  char entrances[most_workers * entrance_size] = "";
  const char* why_not = NULL;
  for (long i = 0; i < wanted && why_not == NULL; ++i) {
    char* const entrance = entrances + i * entrance_size;
    if (!invent_entrance(entrance)) return "no random numbers";
    setenv("HOCKET_WORKER", entrance, 1);
    why_not = start(path);
    if (i > 0) entrance[-1] = ',';
  }
  setenv("HOCKET_WORKER", entrances, 1);
  if (why_not != NULL) unsetenv("HOCKET_WORKER");
  return why_not;
}
