// The program's own arguments. `hocket bench` writes them; people may as well.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hocket_bench.h"

static const char usage[] =
    "usage: hocket_bench [--collectives a,b,...] [--sizes 8,32,...] [--seconds S] [--root R]\n"
    "                    [--type float|double|int] [--out FILE] [--untouched] [--validate-only]\n"
    "Times collectives with and without Hocket (hocket-exec in front); --untouched: without. See "
    "docs/benchmark.md.\n";

static void leave(int status) {
  MPI_Finalize();
  exit(status);
}

static void refuse(const char* what, const char* value) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "hocket_bench: %s '%s'\n%s", what, value, usage);
  leave(2);
}

static void all_collectives(struct bench_options* o) {
  o->collective_count = 0;
  for (int i = 0; collective_at(i); ++i) o->collectives[o->collective_count++] = collective_at(i)->name;
}

static void parse_collectives(char* list, struct bench_options* o) {
  o->collective_count = 0;
  for (char* name = strtok(list, ","); name; name = strtok(NULL, ",")) {
    const struct collective* found = find_collective(name);
    if (!found) refuse("no such collective:", name);
    if (o->collective_count == max_collectives) refuse("too many collectives, from", name);
    o->collectives[o->collective_count++] = found->name;
  }
}

static void parse_sizes(char* list, struct bench_options* o) {
  o->size_count = 0;
  for (char* word = strtok(list, ","); word; word = strtok(NULL, ",")) {
    char* end = NULL;
    const unsigned long long size = strtoull(word, &end, 10);
    if (*end || size == 0 || size % 8 != 0 || size > 1ull << 30)
      refuse("not a multiple of 8 up to 1 GiB:", word);
    if (o->size_count == max_sizes) refuse("too many sizes, from", word);
    o->sizes[o->size_count++] = (size_t)size;
  }
}

static double parse_number(const char* name, const char* value) {
  char* end = NULL;
  const double number = strtod(value, &end);
  if (end == value || *end || number < 0) refuse(name, value);
  return number;
}

static void parse_value(const char* name, char* value, struct bench_options* o) {
  if (strcmp(name, "--collectives") == 0)
    parse_collectives(value, o);
  else if (strcmp(name, "--sizes") == 0)
    parse_sizes(value, o);
  else if (strcmp(name, "--seconds") == 0)
    o->seconds = parse_number(name, value);
  else if (strcmp(name, "--root") == 0)
    o->root = (int)parse_number(name, value);
  else if (strcmp(name, "--type") == 0)
    o->type = value;
  else if (strcmp(name, "--out") == 0)
    o->out = value;
  else
    refuse("unknown option", name);
}

static void check(const struct bench_options* o) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (o->root < 0 || o->root >= ranks) refuse("no such root rank in --root", "");
  const bool known_type =
      strcmp(o->type, "float") == 0 || strcmp(o->type, "double") == 0 || strcmp(o->type, "int") == 0;
  if (!known_type) refuse("unknown type", o->type);
}

void parse_options(int argc, char** argv, struct bench_options* o) {
  static const size_t sizes[] = {8, 64, 512, 4096, 32768, 262144, 2097152};
  memset(o, 0, sizeof *o);
  o->seconds = 0.15;
  o->type = "float";
  memcpy(o->sizes, sizes, sizeof sizes);
  o->size_count = (int)(sizeof sizes / sizeof *sizes);
  all_collectives(o);
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--untouched") == 0)
      o->untouched = true;
    else if (strcmp(argv[i], "--validate-only") == 0)
      o->validate_only = true;
    else if (i + 1 < argc)
      parse_value(argv[i], argv[i + 1], o), ++i;
    else
      refuse("unknown option, or one without its value:", argv[i]);
  }
  check(o);
}
