/* hocket-exec: puts libhocket.so into LD_PRELOAD (with HOCKET_SHARED_HEAP=1 libhocket_heap.so, too) and
 * becomes the program it was given.
 *
 *     mpirun -n 64 hocket-exec ./app
 *
 * It is started once per rank by whatever launcher the site uses, so it is small, needs libc only and leaves
 * nothing behind: only the ranks are touched, never mpirun or its helpers. It appends to LD_PRELOAD, because
 * a profiling tool that is already there has to come first to see the program's calls. If the library cannot
 * be preloaded the program runs untouched. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/on_off.h"
#include "launcher/start_worker.h"

enum { exit_usage = 125, exit_cannot_run = 126, exit_not_found = 127 }; /* as env(1) */

static const char usage[] =
    "usage: hocket-exec [--dry-run] [--] PROGRAM [ARGUMENT...]\n"
    "Runs PROGRAM, an unmodified MPI program, with Hocket in front of its MPI:\n"
    "    mpirun -n 64 hocket-exec ./app\n"
    "\n"
    "  --dry-run   print what would be set and run, and do nothing\n"
    "  --version   print the version\n"
    "  --help      print this text\n"
    "\n"
    "HOCKET=off runs PROGRAM untouched; HOCKET_REPORT=1 prints at the end what ran and why;\n"
    "HOCKET_VERBOSE=1 makes hocket-exec say what it does.\n"
    "Exit status: PROGRAM's own; 125 wrong usage, 126 PROGRAM cannot be run, 127 PROGRAM not found.\n";

/* Launchers tell each process its rank in one of these: one rank speaks for all. */
static bool speaks_for_the_job(void) {
  static const char* const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
    const char* rank = getenv(variables[i]);
    if (rank != NULL) return strcmp(rank, "0") == 0;
  }
  return true;
}

__attribute__((format(printf, 1, 2))) static void warn(const char* format, ...) {
  if (!speaks_for_the_job()) return;
  char line[PATH_MAX + 256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  fprintf(stderr, "hocket-exec: %s\n", line);
}

static bool is_on(const char* variable) {
  const char* value = getenv(variable);
  return value != NULL && hocket_means_on(value);
}

static bool is_verbose(void) {
  return is_on("HOCKET_VERBOSE");
}

/* The libraries belong to this very executable: <prefix>/bin/hocket-exec and
 * <prefix>/lib/hocket/libhocket.so.
 */
static bool find_library(const char* name, char path[PATH_MAX]) {
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return false;
  self[length] = '\0';
  *strrchr(self, '/') = '\0';
  char candidate[PATH_MAX + 64];
  snprintf(candidate, sizeof candidate, "%s/../lib/hocket/%s", self, name);
  return realpath(candidate, path) != NULL;
}

static bool list_contains(const char* list, const char* entry) {
  const size_t length = strlen(entry);
  while (*list != '\0') {
    const size_t word = strcspn(list, ": ");
    if (word == length && memcmp(list, entry, length) == 0) return true;
    list += word;
    list += strspn(list, ": ");
  }
  return false;
}

/* The list with the library at its end, to be freed; NULL when it is there already. */
static char* appended(const char* list, const char* library) {
  if (list_contains(list, library)) return NULL;
  char* value = NULL;
  if (asprintf(&value, "%s%s%s", list, *list != '\0' ? ":" : "", library) < 0) return NULL;
  return value;
}

/* New value of LD_PRELOAD, to be freed; NULL when there is nothing to add. The heap is not worth a failure.
 */
static char* appended_preload(const char* library) {
  const char* present = getenv("LD_PRELOAD");
  if (present == NULL) present = "";
  char* value = appended(present, library);
  char heap[PATH_MAX];
  if (!is_on("HOCKET_SHARED_HEAP") || workers_asked_for() <= 0 || !find_library("libhocket_heap.so", heap))
    return value;
  char* with_heap = appended(value != NULL ? value : present, heap);
  if (with_heap == NULL) return value;
  free(value);
  return with_heap;
}

struct process {
  char name[16];
  pid_t parent;
  unsigned long long start; /* in clock ticks since boot: with the number it is unique */
};

/* A number in /proc/PID/stat; the name, field 2, may contain anything. */
static unsigned long long field_after(const char* name_end, int number) {
  for (int at = 2; name_end != NULL && at < number; ++at) name_end = strchr(name_end + 1, ' ');
  return name_end != NULL ? strtoull(name_end + 1, NULL, 10) : 0;
}

static bool parse_process(const char* text, struct process* process) {
  const char* name = strchr(text, '(');
  const char* name_end = strrchr(text, ')');
  if (name == NULL || name_end == NULL) return false;
  snprintf(process->name, sizeof process->name, "%.*s", (int)(name_end - name - 1), name + 1);
  process->parent = (pid_t)field_after(name_end, 4);
  process->start = field_after(name_end, 22);
  return true;
}

static bool read_process(pid_t pid, struct process* process) {
  char path[64];
  char text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return false;
  text[length] = '\0';
  return parse_process(text, process);
}

/* The nearest process above that is one of hydra's proxies, or 0. */
static pid_t nearest_proxy(void) {
  struct process process;
  for (pid_t pid = getppid(); pid > 1 && read_process(pid, &process); pid = process.parent)
    if (strncmp(process.name, "hydra_", 6) == 0) return pid;
  return 0;
}

/* The process that starts the ranks of a job on this node names the job there. hydra has a proxy for that,
 * one per job and node. Between it and this process there may be more of the same rank (a script that calls
 * hocket-exec again); and a job started from within another one has a nearer proxy of its own. So what an
 * outer hocket-exec has found out is never kept. The other launchers start their ranks themselves, and tell
 * the job's name anyway. */
static void launcher_identity(char text[64]) {
  const pid_t proxy = nearest_proxy();
  const pid_t launcher = proxy != 0 ? proxy : getppid();
  struct process process;
  snprintf(text, 64, "%d:%llu", (int)launcher, read_process(launcher, &process) ? process.start : 0);
}

/* What execvp will run, for the checks below; false when it cannot tell. */
static bool find_program(const char* name, char path[PATH_MAX]) {
  if (strchr(name, '/') != NULL) return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
  const char* folders = getenv("PATH");
  while (folders != NULL && *folders != '\0') {
    const size_t length = strcspn(folders, ":");
    const int written = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folders, name);
    if (written < PATH_MAX && access(path, X_OK) == 0) return true;
    folders += length + (folders[length] == ':');
  }
  return false;
}

/* A static executable has no program interpreter, hence nothing that would honour LD_PRELOAD. */
static bool is_static_elf(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  Elf64_Ehdr header;
  bool interpreted = true;
  if (pread(file, &header, sizeof header, 0) == (ssize_t)sizeof header &&
      memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64) {
    interpreted = false;
    for (int i = 0; i < header.e_phnum && !interpreted; ++i) {
      Elf64_Phdr segment;
      const off_t at = (off_t)(header.e_phoff + (Elf64_Off)i * header.e_phentsize);
      interpreted =
          pread(file, &segment, sizeof segment, at) != (ssize_t)sizeof segment || segment.p_type == PT_INTERP;
    }
  }
  close(file);
  return !interpreted;
}

/* Why the dynamic loader will ignore the preload for this program, or NULL. */
static const char* preload_obstacle(const char* path) {
  struct stat status;
  if (stat(path, &status) != 0) return NULL;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != getuid()) return "is set-user-ID";
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != getgid()) return "is set-group-ID";
  if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0) return "has file capabilities";
  if (is_static_elf(path)) return "is statically linked";
  return NULL;
}

static void warn_if_not_preloadable(const char* program) {
  char path[PATH_MAX];
  if (!find_program(program, path)) return;
  const char* obstacle = preload_obstacle(path);
  if (obstacle != NULL) warn("%s %s: it runs without Hocket", path, obstacle);
}

static bool is_switched_off(void) {
  const char* value = getenv("HOCKET");
  return value != NULL && hocket_means_off(value);
}

struct plan {
  char* preload; /* new LD_PRELOAD, or NULL: leave it */
  char launcher[64];
  const char* untouched_because; /* or NULL */
};

static struct plan make_plan(void) {
  static char library[PATH_MAX];
  struct plan plan = {.preload = NULL, .untouched_because = NULL};
  launcher_identity(plan.launcher);
  if (is_switched_off()) {
    plan.untouched_because = "HOCKET=off";
  } else if (!find_library("libhocket.so", library)) {
    plan.untouched_because = "../lib/hocket/libhocket.so is not there, seen from this executable";
  } else if (strpbrk(library, ": ") != NULL) {
    plan.untouched_because =
        "the path of libhocket.so has a colon or a space, which LD_PRELOAD cannot express";
  } else {
    plan.preload = appended_preload(library);
  }
  return plan;
}

/* Beside the library. */
static void start_own_worker(void) {
  char library[PATH_MAX];
  if (!find_library("libhocket.so", library)) return;
  *strrchr(library, '/') = '\0';
  const char* why_not = start_worker(library);
  if (why_not != NULL) warn("no worker process: %s", why_not);
}

static void apply(const struct plan* plan) {
  if (plan->untouched_because != NULL) {
    if (!is_switched_off() || is_verbose()) warn("running untouched: %s", plan->untouched_because);
    return;
  }
  const char* before = getenv("HOCKET_LAUNCHER_PID");
  const bool has_been_here = before != NULL && strcmp(before, plan->launcher) == 0;
  setenv("HOCKET_LAUNCHER_PID", plan->launcher, 1);
  if (!has_been_here || getenv("HOCKET_WORKER") == NULL) start_own_worker();
  if (plan->preload != NULL) setenv("LD_PRELOAD", plan->preload, 1);
  if (is_verbose()) warn("LD_PRELOAD=%s", getenv("LD_PRELOAD"));
}

static void print_plan(const struct plan* plan, char** command) {
  if (plan->untouched_because != NULL) {
    printf("untouched: %s\n", plan->untouched_because);
  } else {
    const char* present = getenv("LD_PRELOAD");
    printf("LD_PRELOAD=%s\n", plan->preload != NULL ? plan->preload : present);
    printf("HOCKET_LAUNCHER_PID=%s\n", plan->launcher);
  }
  printf("exec");
  for (; *command != NULL; ++command) printf(" %s", *command);
  printf("\n");
}

static int become(char** command) {
  execvp(command[0], command);
  const int error = errno;
  fprintf(stderr, "hocket-exec: %s: %s\n", command[0], strerror(error));
  return error == ENOENT ? exit_not_found : exit_cannot_run;
}

static int complain(const char* what, const char* argument) {
  fprintf(stderr, "hocket-exec: %s%s\n%s", what, argument, usage);
  return exit_usage;
}

int main(int argc, char** argv) {
  bool dry_run = false;
  int first = 1;
  for (; first < argc && argv[first][0] == '-'; ++first) {
    const char* option = argv[first];
    if (strcmp(option, "--") == 0) {
      ++first;
      break;
    }
    if (strcmp(option, "--help") == 0) return printf("%s", usage) < 0;
    if (strcmp(option, "--version") == 0) return printf("hocket-exec %s\n", HOCKET_VERSION) < 0;
    if (strcmp(option, "--dry-run") != 0) return complain("unknown option ", option);
    dry_run = true;
  }
  if (first >= argc) return complain("no program given", "");

  const struct plan plan = make_plan();
  if (plan.untouched_because == NULL) warn_if_not_preloadable(argv[first]);
  if (dry_run) {
    print_plan(&plan, argv + first);
    return 0;
  }
  apply(&plan);
  return become(argv + first);
}
