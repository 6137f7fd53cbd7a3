// Whether memory is of the kind that the node's worker maps (src/heap), as the kernel tells.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int is_shared(const void* piece) {
  char line[512];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    char* rest = line;
    const unsigned long begin = strtoul(rest, &rest, 16), end = strtoul(rest + 1, NULL, 16);
    if ((uintptr_t)piece >= begin && (uintptr_t)piece < end) found = strstr(line, "hocket-heap") != NULL;
  }
  if (maps) fclose(maps);
  return found;
}
