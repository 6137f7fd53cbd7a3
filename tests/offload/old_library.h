/* A library with SHARP's interface as it once was, without reduce and bcast, for one rank. It moves nothing:
 * tests say what it does, and look at what it was told. */
#ifndef HOCKET_TESTS_OFFLOAD_OLD_LIBRARY_H
#define HOCKET_TESTS_OFFLOAD_OLD_LIBRARY_H

#include <stddef.h>

struct OldLibrary {
  /* to be said */
  int room;    /* so many may be outstanding */
  int outcome; /* of sharp_coll_req_test */
  int init_error, group_error;
  /* to be seen */
  int posted, freed, outstanding, most_outstanding, groups, contexts;
  size_t bytes, longest, length;
  const char* next; /* where the last buffer ended */
  int gaps;         /* buffers that began elsewhere */
  void* handle;     /* of memory, in the last post */
  int registered, registrations;
};

#endif
