// The arguments that only this benchmark has; the others are hocket_bench's.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nonblocking.h"

static const char usage[] =
    "usage: hocket_nonblocking [options of hocket_bench] [--tests 0,1,16] [--compute US|native] [--beside "
    "sockets]\n"
    "       hocket_nonblocking [...] --operations N [--skew US[:RANK]] [--noise HZxUS] [--seed N]\n"
    "Times non-blocking and persistent collectives, or (--operations) records who waits for whom. See\n"
    "docs/benchmark.md.\n";

static void refuse(const char* what, const char* value) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "hocket_nonblocking: %s '%s'\n%s", what, value, usage);
  MPI_Finalize();
  exit(2);
}

// The number at the beginning of a text, and what stands behind it.
static double leading_number(const char* name, const char* text, const char** rest) {
  char* end = NULL;
  const double number = strtod(text, &end);
  if (end == text || !(number >= 0) || number > 1e9) refuse(name, text);
  *rest = end;
  return number;
}

static double number_of(const char* name, const char* text) {
  const char* rest = NULL;
  const double number = leading_number(name, text, &rest);
  if (*rest) refuse(name, text);
  return number;
}

static void parse_tests(char* list, struct nonblocking_options* o) {
  o->test_count = 0;
  for (char* word = strtok(list, ","); word; word = strtok(NULL, ",")) {
    if (o->test_count == most_tests) refuse("too many in --tests, from", word);
    o->tests[o->test_count++] = (int)number_of("--tests", word);
  }
}

static void parse_skew(const char* text, struct nonblocking_options* o) {
  const char* rest = NULL;
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  o->late = 1e-6 * leading_number("--skew", text, &rest);
  o->late_rank = *rest == ':' ? (int)number_of("--skew", rest + 1) : -1;
  if ((*rest && *rest != ':') || o->late_rank >= ranks) refuse("no such rank in --skew", text);
}

static void parse_noise(const char* text, struct nonblocking_options* o) {
  const char* rest = NULL;
  const double frequency = leading_number("--noise", text, &rest);
  if (*rest != 'x' || frequency == 0) refuse("--noise", text);
  o->detour_interval = 1 / frequency;
  o->detour = 1e-6 * number_of("--noise", rest + 1);
  if (o->detour >= o->detour_interval) refuse("detours longer than the time between them: --noise", text);
}

static bool is_own(const char* name, char* value, struct nonblocking_options* o) {
  if (strcmp(name, "--tests") == 0)
    parse_tests(value, o);
  else if (strcmp(name, "--compute") == 0 && strcmp(value, "native") == 0)
    o->compute_native = true;
  else if (strcmp(name, "--compute") == 0)
    o->compute = 1e-6 * number_of(name, value);
  else if (strcmp(name, "--beside") == 0 && strcmp(value, "sockets") == 0)
    o->sockets = true;
  else if (strcmp(name, "--operations") == 0)
    o->operations = (int)number_of(name, value);
  else if (strcmp(name, "--skew") == 0)
    parse_skew(value, o);
  else if (strcmp(name, "--noise") == 0)
    parse_noise(value, o);
  else if (strcmp(name, "--seed") == 0)
    o->seed = (unsigned)number_of(name, value);
  else
    return false;
  return true;
}

void parse_nonblocking_options(int argc, char** argv, struct nonblocking_options* o) {
  char** others = calloc((size_t)argc + 1, sizeof *others);
  if (!others) refuse("no memory for", "the arguments");
  memset(o, 0, sizeof *o);
  o->late_rank = -1;
  parse_tests((char[]){"0,1,16"}, o);
  int count = 0;
  for (int i = 0; i < argc; ++i) {
    if (i > 0 && i + 1 < argc && is_own(argv[i], argv[i + 1], o))
      ++i;
    else
      others[count++] = argv[i];
  }
  parse_options(count, others, &o->bench);
  free((void*)others);
  o->timeline = o->operations > 0;
}
