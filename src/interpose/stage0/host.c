// Which MPI is this process's? The library that defines PMPI_Init, wherever it came from: linked, a
// dependency, or loaded out of sight of the global scope (RTLD_LOCAL, as mpi4py's is). Its symbols and its
// soname tell the family of binary interfaces.
#include <dlfcn.h>
#include <string.h>

#include "interpose/stage0/elf_image.h"
#include "interpose/stage0/stage0.h"

static int starts_with(const char* text, const char* prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

static const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// Open MPI first: its 5.0 also exports some MPIR_ names (the debugger interface). MPICH ABI: MPICH, Intel MPI
// and others of the ABI compatibility initiative share the soname libmpi.so.12; Debian's MPICH is
// libmpich.so.12.
static const char* family_of(const struct elf_image* image, const char* path) {
  const char* name = image->soname ? image->soname : base_name(path);
  if (elf_image_find(image, "ompi_mpi_comm_world")) return "ompi";
  if (starts_with(name, "libmpi_abi.so") || starts_with(name, "libpmpi_abi.so")) return "abi";
  if (starts_with(name, "libmpi.so.12") || starts_with(name, "libmpich.so.12")) return "mpich";
  if (elf_image_find(image, "MPIR_Err_return_comm")) return "mpich";
  return NULL;
}

// A library of a known family wins over one that merely defines PMPI_Init (another interposer, say); else the
// first does.
static int consider(struct dl_phdr_info* info, size_t size, void* data) {
  struct host* host = data;
  struct elf_image image;
  (void)size;
  if (elf_range_holds(elf_code_range(info), (uintptr_t)hocket_stage0_trampolines)) return 0;  // this library
  if (!elf_image_read(info, &image) || !elf_image_find(&image, "PMPI_Init")) return 0;
  const char* family = family_of(&image, info->dlpi_name);
  const int first = host->base == 0;
  if ((first || family) && strlen(info->dlpi_name) < sizeof host->path) {
    strcpy(host->path, info->dlpi_name);
    host->base = info->dlpi_addr;
    host->family = family;
  }
  return family != NULL;
}

void host_find(struct host* host) {
  memset(host, 0, sizeof *host);
  dl_iterate_phdr(consider, host);
  // The handle keeps the library in memory for as long as slots point into it. The program itself has no
  // name.
  if (host->base) host->handle = dlopen(host->path[0] ? host->path : NULL, RTLD_NOLOAD | RTLD_LAZY);
  if (!host->handle) host->family = NULL;
}
