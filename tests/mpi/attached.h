// Whether Hocket ran collectives of this program. A right answer alone does not tell: the MPI gives it as
// well. hocket_mpi_test(... HOCKET) requires it by an environment variable; programs that are launched
// without Hocket, or are meant to be left to the MPI, are not asked.
#pragma once

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "hocket/hocket.h"

// A name that libhocket.so exports, into a pointer to a function; NULL if it is not preloaded.
static inline void find_in_hocket(const char* name, void* function) {
  *(void**)function = dlsym(dlopen(NULL, RTLD_LAZY), name);
}

static inline int is_set(const char* variable) {
  const char* value = getenv(variable);
  return value && strcmp(value, "0") != 0;
}

static inline int hocket_is_required(void) {
  return is_set("TEST_REQUIRES_HOCKET");
}

// Of jobs that ask for workers, but for those that are said to have nothing for them.
static inline int worker_is_required(void) {
  return is_set("HOCKET_WORKERS") && (!getenv("TEST_REQUIRES_WORKER") || is_set("TEST_REQUIRES_WORKER"));
}

// The report so far, to be freed; "" without Hocket.
static inline char* hocket_report(void) {
  hocket_report_function report;
  find_in_hocket("hocket_report_text", &report);
  const size_t room = report ? report(NULL, 0) + 1 : 1;
  char* text = calloc(1, room);
  if (text && report) report(text, room);
  return text;
}

// A row of the report whose algorithm is Hocket's own.
static inline int names_own_algorithm(const char* line) {
  return strncmp(line, "collective ", 11) != 0 && strncmp(line, "no collective ", 14) != 0 &&
         strncmp(line, "note: ", 6) != 0 && !strstr(line, " native ");
}

static inline int is_row_of(const char* line, const char* collective) {
  const size_t length = strlen(collective);
  return strncmp(line, collective, length) == 0 && line[length] == ' ';
}

// This one, as the report names it (iallreduce, allreduce_init); NULL: any.
static inline int hocket_has_run(const char* collective) {
  char* text = hocket_report();
  int has_run = 0;
  for (char* line = text ? strtok(text, "\n") : NULL; line; line = strtok(NULL, "\n"))
    has_run |= names_own_algorithm(line) && (!collective || is_row_of(line, collective));
  free(text);
  return has_run;
}

static inline int worker_has_run(void) {
  char* text = hocket_report();
  const int has_run = strstr(text, "worker was handed ") != NULL;
  free(text);
  return has_run;
}

// NULL, or what is missing. A job of one rank has no collectives to run.
static inline const char* hocket_shortfall(int ranks) {
  const char* (*status)(void);
  if (!hocket_is_required()) return NULL;
  find_in_hocket("hocket_status", &status);
  if (!status) return "libhocket.so is not preloaded";
  if (strncmp(status(), "attached: ", 10) != 0) return status();
  if (ranks == 1) return NULL;
  if (!hocket_has_run(NULL)) return "Hocket ran no collective";
  return worker_is_required() && !worker_has_run() ? "nothing was handed to a worker" : NULL;
}
