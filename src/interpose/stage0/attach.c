// The first MPI call ends up here, whichever it is: find the process's MPI, load the plugin for its family,
// fill the slots. Later calls never come here again. Whatever fails leaves every slot at the MPI's own
// function, with the reason kept.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/on_off.h"
#include "interpose/stage0/stage0.h"

static const char* const pmpi_names[HOCKET_CALLS] = {
#define CALL(name, kind) "PMPI_" #name,
#define EXTENSION(name, kind) "PMPIX_" #name,
#include "interpose/calls.def"
#undef CALL
#undef EXTENSION
};

enum stage { fresh, busy, ready };
static atomic_int stage = fresh;
static _Atomic(pthread_t) owner;  // who attaches; meaningful while busy
static atomic_int host_known;
static unsigned char missing[HOCKET_CALLS];  // neither the plugin nor the MPI has it; final once ready
static struct host host;
static char self_path[4096];

static char verdict[sizeof self_path + 512];
static const char* _Atomic status_line = "idle: no MPI call was made yet";

static void conclude(const char* what, const char* detail) {
  snprintf(verdict, sizeof verdict, "%s%.4200s", what, detail);
  atomic_store(&status_line, verdict);
}

// An installation that cannot work is worth a line, from every process that calls MPI: it may be this node's
// alone.
static void conclude_aloud(const char* what, const char* detail) {
  char line[sizeof verdict + 16];
  conclude(what, detail);
  const int length = snprintf(line, sizeof line, "hocket: %s\n", verdict);
  if (write(STDERR_FILENO, line, (size_t)length) < 0) return;
}

static int reasons_are_wanted(void) {
  const char* report = getenv("HOCKET_REPORT");
  const char* verbose = getenv("HOCKET_VERBOSE");
  return (report && *report && !hocket_means_off(report)) || (verbose && hocket_means_on(verbose));
}

// As far as the launcher has told; without one each process speaks for itself.
static int is_first_rank(void) {
  static const char* const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
    const char* rank = getenv(variables[i]);
    if (rank) return strcmp(rank, "0") == 0;
  }
  return 1;
}

// What is the same on all ranks and no fault of the installation: one line, from who was asked for a report.
static void conclude_if_wanted(const char* what, const char* detail) {
  if (reasons_are_wanted() && is_first_rank())
    conclude_aloud(what, detail);
  else
    conclude(what, detail);
}

HOCKET_EXPORT const char* hocket_status(void) {
  return atomic_load(&status_line);
}

static void* real_function(const char* pmpi_name) {
  return dlsym(atomic_load(&host_known) && host.handle ? host.handle : RTLD_NEXT, pmpi_name);
}

// A program that names an MPI variable holds its only live copy (COPY relocation), so the global scope is
// asked first. The library's own is right where it was loaded out of the global scope.
static void* real_data(const char* symbol) {
  void* found = dlsym(RTLD_DEFAULT, symbol);
  return found || !host.handle ? found : dlsym(host.handle, symbol);
}

// What a strong reference to a function that the MPI lacks would have met without Hocket: the loader's
// message and status.
__attribute__((noreturn)) static void die_of_missing(uint32_t call) {
  char line[sizeof host.path + 256];
  const int length =
      snprintf(line, sizeof line, "hocket: symbol lookup error: undefined symbol: %s (MPI: %s)\n",
               pmpi_names[call] + 1, host.path[0] ? host.path : "none found");
  const ssize_t written = write(STDERR_FILENO, line, (size_t)length);
  _exit(written < 0 ? 126 : 127);
}

static void* pass_through(uint32_t call) {
  void* real = real_function(pmpi_names[call]);
  if (!real) die_of_missing(call);
  return real;
}

static int switched_off(void) {
  const char* value = getenv("HOCKET");
  return value && hocket_means_off(value);
}

static int find_self(void) {
  Dl_info info;
  if (!dladdr(hocket_stage0_trampolines, &info) || !info.dli_fname) return 0;
  const int length = snprintf(self_path, sizeof self_path, "%s", info.dli_fname);
  return length > 0 && (size_t)length < sizeof self_path;
}

// libhocket_<family>.so beside libhocket.so.
static void* load_plugin(void) {
  char path[sizeof self_path + 64];
  const char* slash = strrchr(self_path, '/');
  const int folder = slash ? (int)(slash - self_path) : 1;
  snprintf(path, sizeof path, "%.*s/libhocket_%s.so", folder, slash ? self_path : ".", host.family);
  void* plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!plugin) {
    const char* why = dlerror();
    conclude_aloud("pass-through: the plugin cannot be loaded: ", why ? why : path);
  }
  return plugin;
}

static void ask_plugin(void** own) {
  static struct hocket_stage0 contract;
  void* plugin = load_plugin();
  if (!plugin) return;
  hocket_plugin_attach_function attach;
  *(void**)&attach = dlsym(plugin, "hocket_plugin_attach");
  if (!attach)
    return conclude_aloud("pass-through: the plugin has no hocket_plugin_attach: libhocket_", host.family);
  contract = (struct hocket_stage0){.abi_version = HOCKET_ABI_VERSION,
                                    .calls = HOCKET_CALLS,
                                    .family = host.family,
                                    .mpi_path = host.path,
                                    .mpi_handle = host.handle,
                                    .real = real_function,
                                    .data = real_data,
                                    .caller_is_mpi = hocket_caller_is_mpi,
                                    .self_path = self_path};
  if (attach(&contract, own) == 0) {
    control_connect(plugin);
    return conclude("attached: ", host.path);
  }
  memset(own, 0, HOCKET_CALLS * sizeof *own);
  conclude("pass-through: the plugin declined: libhocket_", host.family);
}

static void choose(void** own) {
  if (switched_off()) return conclude("off: HOCKET=", getenv("HOCKET"));
  if (!host.path[0] && !host.handle)
    return conclude_if_wanted("pass-through: no loaded library defines PMPI_Init", "");
  if (!host.family) return conclude_if_wanted("pass-through: unknown kind of MPI: ", host.path);
  if (!find_self()) return conclude_if_wanted("pass-through: libhocket.so does not know its own path", "");
  ask_plugin(own);
}

// A missing call's slot stays at its stub, so that a call made all the same comes back here and is named.
static void publish(void** own) {
  int any_missing = 0;
  for (uint32_t call = 0; call < HOCKET_CALLS; ++call) {
    void* target = own[call] ? own[call] : real_function(pmpi_names[call]);
    missing[call] = target == NULL;
    any_missing |= missing[call];
    if (target) atomic_store_explicit(&hocket_stage0_slots[call], target, memory_order_release);
  }
  if (any_missing) withdraw(missing);
}

static void attach_once(void) {
  static void* own[HOCKET_CALLS];
  host_find(&host);
  atomic_store(&host_known, 1);
  caller_prepare(&host);
  choose(own);
  publish(own);
  dlerror();  // what our look-ups missed is not the program's error
}

// Waits for the thread that attaches. It may itself wait for the loader's lock, which this thread holds if it
// is inside a constructor; so patience ends, and this one call goes to the MPI.
static int wait_until_ready(void) {
  const struct timespec nap = {0, 50 * 1000};
  for (int naps = 0; naps < 100 * 1000; ++naps) {
    if (atomic_load(&stage) == ready) return 1;
    nanosleep(&nap, NULL);
  }
  return 0;
}

static void* resolve(uint32_t call) {
  int expected = fresh;
  if (atomic_compare_exchange_strong(&stage, &expected, busy)) {
    atomic_store(&owner, pthread_self());
    attach_once();
    atomic_store(&stage, ready);
  } else if (expected == busy) {
    // An MPI call made by what attaching set off (the plugin, its constructors) must not wait for itself.
    if (pthread_equal(atomic_load(&owner), pthread_self()) || !wait_until_ready()) return pass_through(call);
  }
  if (missing[call]) die_of_missing(call);
  return atomic_load_explicit(&hocket_stage0_slots[call], memory_order_acquire);
}

// Called by the stubs with the program's argument registers saved; answers where the call goes on.
HOCKET_INTERNAL void* hocket_stage0_resolve(uint32_t call) {
  const int saved = errno;
  void* target = resolve(call);
  errno = saved;
  return target;
}
