/* What libhocket_heap.so says to whoever finds hocket_heap_shape() in the same process: its memory that
 * others may map. */
#ifndef HOCKET_HEAP_SHARED_HEAP_H
#define HOCKET_HEAP_SHARED_HEAP_H

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hocket_heap_shape {
  void* base;
  size_t bytes;
  int file; /* a descriptor of this process; -1: there is none (yet, or any more) */
  dev_t device;
  ino_t inode;
};

void hocket_heap_shape(struct hocket_heap_shape* shape);

#ifdef __cplusplus
}
#endif
#endif
