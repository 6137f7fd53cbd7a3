// Who called? MPI libraries call themselves through the same names (ROMIO, Open MPI's components); such a
// call has to pass through, and by the same decision on every rank. A nesting flag would depend on what the
// library happened to be inside of; the return address does not.
//
// Objects loaded with the program are never unloaded: their ranges are kept in a sorted table, with the last
// user's range in front. Objects loaded later may go and others take their place, so nothing about them is
// remembered; the loader's own lock-free _dl_find_object (glibc 2.35) is asked each time, and dl_iterate_phdr
// where that is missing.
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/stage0/elf_image.h"
#include "interpose/stage0/stage0.h"

struct code {
  struct elf_range range;
  int is_mpi;
};

enum { code_capacity = 512 };  // objects beyond it are asked for exactly, like those loaded later
static struct code table[code_capacity];
static atomic_int table_size;
static const struct code nobody;
static const struct code* _Atomic last_user = &nobody;

static unsigned long long initial_objects;  // how many were there when this library was loaded
static uintptr_t mpi_base = 1;  // the load address of the library that defines PMPI_Init; none is 1

static int count_objects(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size, (void)data;
  initial_objects = info->dlpi_adds - info->dlpi_subs;
  return 1;  // the first object's record says it all
}

__attribute__((constructor)) static void note_initial_objects(void) {
  dl_iterate_phdr(count_objects, NULL);
}

static int is_mpi_object(uintptr_t base, const char* path) {
  static const char* const internals[] = {"mca_", "libopen-", "libmca_", "libpmpi", "libmpi_abi.so"};
  if (base == mpi_base) return 1;
  const char* slash = path ? strrchr(path, '/') : NULL;
  const char* name = slash ? slash + 1 : path ? path : "";
  for (size_t i = 0; i < sizeof internals / sizeof *internals; ++i)
    if (strncmp(name, internals[i], strlen(internals[i])) == 0) return 1;
  return 0;
}

struct survey {
  unsigned long long seen;
  int kept;
};

static int keep_initial(struct dl_phdr_info* info, size_t size, void* data) {
  struct survey* survey = data;
  (void)size;
  if (survey->seen++ == initial_objects || survey->kept == code_capacity) return 1;
  const struct elf_range range = elf_code_range(info);
  if (range.end == 0) return 0;
  table[survey->kept++] = (struct code){range, is_mpi_object(info->dlpi_addr, info->dlpi_name)};
  return 0;
}

static int by_address(const void* a, const void* b) {
  const uintptr_t left = ((const struct code*)a)->range.begin, right = ((const struct code*)b)->range.begin;
  return (left > right) - (left < right);
}

static const struct code* find_in_table(uintptr_t address) {
  int low = 0, high = atomic_load_explicit(&table_size, memory_order_acquire);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (address >= table[middle].range.end)
      low = middle + 1;
    else
      high = middle;
  }
  const int size = atomic_load_explicit(&table_size, memory_order_relaxed);
  return low < size && elf_range_holds(table[low].range, address) ? &table[low] : NULL;
}

struct question {
  uintptr_t address;
  int is_mpi;
};

static int answer(struct dl_phdr_info* info, size_t size, void* data) {
  struct question* question = data;
  (void)size;
  if (!elf_range_holds(elf_code_range(info), question->address)) return 0;
  question->is_mpi = is_mpi_object(info->dlpi_addr, info->dlpi_name);
  return 1;
}

static int ask_by_walking(uintptr_t address) {
  struct question question = {address, 0};
  dl_iterate_phdr(answer, &question);
  return question.is_mpi;
}

#if __GLIBC_PREREQ(2, 35)
static int (*find_object)(void*, struct dl_find_object*);

static int ask_loader(uintptr_t address) {
  struct dl_find_object found;
  if (!find_object) return ask_by_walking(address);
  if (find_object((void*)address, &found) != 0) return 0;  // generated code: a user's
  return is_mpi_object(found.dlfo_link_map->l_addr, found.dlfo_link_map->l_name);
}
#else
static void* find_object;
static int ask_loader(uintptr_t address) {
  return ask_by_walking(address);
}
#endif

void caller_prepare(const struct host* host) {
  struct survey survey = {0, 0};
  if (host->base && host->path[0])
    mpi_base = host->base;  // an MPI inside the program itself is the user's side
  *(void**)&find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
  dl_iterate_phdr(keep_initial, &survey);
  qsort(table, survey.kept, sizeof *table, by_address);
  atomic_store_explicit(&table_size, survey.kept, memory_order_release);
}

static __attribute__((noinline)) int look_up(uintptr_t address) {
  const struct code* code = find_in_table(address);
  if (!code) return ask_loader(address);
  if (!code->is_mpi) atomic_store_explicit(&last_user, code, memory_order_release);
  return code->is_mpi;
}

HOCKET_EXPORT int hocket_caller_is_mpi(const void* return_address) {
  const uintptr_t address = (uintptr_t)return_address;
  const struct code* last = atomic_load_explicit(&last_user, memory_order_acquire);
  return elf_range_holds(last->range, address) ? 0 : look_up(address);
}
