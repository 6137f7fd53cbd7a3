#include "interpose/stage0/elf_image.h"

#include <string.h>

// glibc relocates the pointers of a dynamic section in place, except in the vDSO, whose pages are read-only.
static const void* pointer_of(const struct elf_image* image, const ElfW(Dyn) * entry) {
  uintptr_t address = entry->d_un.d_ptr;
  return (const void*)(address < image->base ? address + image->base : address);
}

static const ElfW(Dyn) * dynamic_section(const struct dl_phdr_info* info) {
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      return (const ElfW(Dyn)*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  return NULL;
}

int elf_image_read(const struct dl_phdr_info* info, struct elf_image* image) {
  const ElfW(Dyn)* entry = dynamic_section(info);
  const ElfW(Dyn)* soname = NULL;
  memset(image, 0, sizeof *image);
  image->base = info->dlpi_addr;
  if (!entry) return 0;
  for (; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB:
        image->symbols = (ElfW(Sym)*)pointer_of(image, entry);
        break;
      case DT_STRTAB:
        image->strings = pointer_of(image, entry);
        break;
      case DT_GNU_HASH:
        image->gnu_hash = pointer_of(image, entry);
        break;
      case DT_HASH:
        image->sysv_hash = pointer_of(image, entry);
        break;
      case DT_RELA:
        image->relocations = pointer_of(image, entry);
        break;
      case DT_RELASZ:
        image->relocation_count = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
      case DT_SONAME:
        soname = entry;
        break;
      default:
        break;
    }
  }
  if (!image->symbols || !image->strings) return 0;
  if (soname) image->soname = image->strings + soname->d_un.d_val;
  return 1;
}

static int is_definition(const struct elf_image* image, uint32_t index, const char* name) {
  const ElfW(Sym)* symbol = &image->symbols[index];
  return symbol->st_shndx != SHN_UNDEF && strcmp(image->strings + symbol->st_name, name) == 0;
}

// The layout is described in Drepper, "How To Write Shared Libraries" (2011), section 1.5, and by binutils'
// bfd/elflink.c.
static ElfW(Sym) * find_by_gnu_hash(const struct elf_image* image, const char* name) {
  uint32_t hash = 5381;
  for (const unsigned char* c = (const unsigned char*)name; *c; ++c) hash = hash * 33 + *c;
  const uint32_t bucket_count = image->gnu_hash[0], first = image->gnu_hash[1],
                 bloom_words = image->gnu_hash[2];
  const uint32_t* buckets = image->gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* chain = buckets + bucket_count;
  if (bucket_count == 0) return NULL;
  for (uint32_t i = buckets[hash % bucket_count]; i >= first && i != 0; ++i) {
    const uint32_t entry = chain[i - first];
    if ((entry | 1) == (hash | 1) && is_definition(image, i, name)) return &image->symbols[i];
    if (entry & 1) break;
  }
  return NULL;
}

static ElfW(Sym) * find_by_sysv_hash(const struct elf_image* image, const char* name) {
  const uint32_t count = image->sysv_hash[1];  // its second word is the number of symbols
  for (uint32_t i = 1; i < count; ++i)
    if (is_definition(image, i, name)) return &image->symbols[i];
  return NULL;
}

ElfW(Sym) * elf_image_find(const struct elf_image* image, const char* name) {
  if (image->gnu_hash) return find_by_gnu_hash(image, name);
  return image->sysv_hash ? find_by_sysv_hash(image, name) : NULL;
}

static struct elf_range segment(const struct dl_phdr_info* info, const ElfW(Phdr) * header) {
  const uintptr_t begin = info->dlpi_addr + header->p_vaddr;
  return (struct elf_range){begin, begin + header->p_memsz};
}

struct elf_range elf_code_range(const struct dl_phdr_info* info) {
  struct elf_range whole = {UINTPTR_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
    const struct elf_range part = segment(info, header);
    if (part.begin < whole.begin) whole.begin = part.begin;
    if (part.end > whole.end) whole.end = part.end;
  }
  return whole.end ? whole : (struct elf_range){0, 0};
}

struct elf_range elf_relro_range(const struct dl_phdr_info* info) {
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) return segment(info, &info->dlpi_phdr[i]);
  return (struct elf_range){0, 0};
}
