// Some exported names belong to functions that this process's MPI does not have (the _c forms under Open MPI,
// sessions under older MPIs). Callers that ask first, by a weak reference as mpi4py does for 284 functions,
// would find our trampoline and rely on it. So once the MPI is known, such names are withdrawn: weak
// references that were bound to our trampoline read NULL again, and the loader no longer finds the name in
// this library. Only pointers to our own trampolines are ever changed.
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/stage0/elf_image.h"
#include "interpose/stage0/stage0.h"

#if defined(__x86_64__)
enum { relocation_glob_dat = R_X86_64_GLOB_DAT, relocation_absolute = R_X86_64_64 };
#elif defined(__aarch64__)
enum { relocation_glob_dat = R_AARCH64_GLOB_DAT, relocation_absolute = R_AARCH64_ABS64 };
#endif

static int is_missing(const unsigned char* missing, uintptr_t address) {
  const uintptr_t distance = address - (uintptr_t)hocket_stage0_trampolines;
  return distance < (uintptr_t)HOCKET_CALLS * HOCKET_TRAMPOLINE_SIZE &&
         missing[distance / HOCKET_TRAMPOLINE_SIZE];
}

// Writes NULL over a word that may lie in pages made read-only by the loader. Failure leaves the word as it
// was.
static void clear_word(uintptr_t* word, int read_only) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  void* start = (void*)((uintptr_t)word & ~(page - 1));
  if (read_only && mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return;
  atomic_store_explicit((_Atomic uintptr_t*)word, 0, memory_order_release);
  if (read_only) mprotect(start, page, PROT_READ);
}

static int is_weak_reference(const struct elf_image* image, const ElfW(Rela) * relocation) {
  const unsigned long type = ELF64_R_TYPE(relocation->r_info);
  const ElfW(Sym)* symbol = &image->symbols[ELF64_R_SYM(relocation->r_info)];
  return (type == relocation_glob_dat || type == relocation_absolute) && symbol->st_shndx == SHN_UNDEF &&
         ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
}

static void clear_references(const struct dl_phdr_info* info, const struct elf_image* image,
                             const unsigned char* missing) {
  const struct elf_range relro = elf_relro_range(info);
  for (size_t i = 0; i < image->relocation_count; ++i) {
    const ElfW(Rela)* relocation = &image->relocations[i];
    if (!is_weak_reference(image, relocation)) continue;
    uintptr_t* word = (uintptr_t*)(image->base + relocation->r_offset);
    if (is_missing(missing, *word)) clear_word(word, elf_range_holds(relro, (uintptr_t)word));
  }
}

// A definition whose value is 0 is none to the loader (elf/dl-lookup.c, check_match).
static void clear_definitions(const struct elf_image* image, const unsigned char* missing) {
  static const char* const names[][2] = {
#define CALL(name, kind) {"MPI_" #name, "PMPI_" #name},
#define EXTENSION(name, kind) {"MPIX_" #name, "PMPIX_" #name},
#include "interpose/calls.def"
#undef CALL
#undef EXTENSION
  };
  for (int call = 0; call < HOCKET_CALLS; ++call) {
    for (int form = 0; missing[call] && form < 2; ++form) {
      ElfW(Sym)* symbol = elf_image_find(image, names[call][form]);
      if (symbol) clear_word((uintptr_t*)&symbol->st_value, 1);
    }
  }
}

static int visit(struct dl_phdr_info* info, size_t size, void* data) {
  struct elf_image image;
  (void)size;
  if (!elf_image_read(info, &image)) return 0;
  if (elf_range_holds(elf_code_range(info), (uintptr_t)hocket_stage0_trampolines))
    clear_definitions(&image, data);
  else
    clear_references(info, &image, data);
  return 0;
}

void withdraw(const unsigned char* missing) {
  dl_iterate_phdr(visit, (void*)missing);
}
