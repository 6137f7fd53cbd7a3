// A loaded object as the dynamic loader sees it: its symbols, its name for itself, its references to others.
// Read from its own program headers, which needs no lock and no dlopen, so it works within dl_iterate_phdr.
#pragma once

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#define HOCKET_INTERNAL __attribute__((visibility("hidden")))

struct elf_image {
  uintptr_t base;
  ElfW(Sym) * symbols;
  const char* strings;
  const char* soname;  // NULL when it has none
  const uint32_t* gnu_hash;
  const uint32_t* sysv_hash;
  const ElfW(Rela) * relocations;
  size_t relocation_count;
};

struct elf_range {
  uintptr_t begin, end;
};

// Returns 0 when the object has no usable dynamic section.
HOCKET_INTERNAL int elf_image_read(const struct dl_phdr_info* info, struct elf_image* image);

// The object's own definition of a symbol, NULL when it has none (dlsym would also answer from its
// dependencies).
HOCKET_INTERNAL ElfW(Sym) * elf_image_find(const struct elf_image* image, const char* name);

// The addresses its code takes.
HOCKET_INTERNAL struct elf_range elf_code_range(const struct dl_phdr_info* info);

// The addresses that were made read-only after relocation.
HOCKET_INTERNAL struct elf_range elf_relro_range(const struct dl_phdr_info* info);

static inline int elf_range_holds(struct elf_range range, uintptr_t address) {
  return address - range.begin < range.end - range.begin;
}
