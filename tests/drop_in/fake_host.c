// A program without MPI that loads a library which brings one along, out of the global scope: the way of
// Python modules.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
  int (*run)(void) = (int (*)(void))dlsym(library, "run");
  printf("%d\n", run());
  return 0;
}
