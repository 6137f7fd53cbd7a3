/* libhocket_lab.so, preloaded into the ranks of a lab, with and without Hocket: of the times that a thread
 * yields its core, every fourth is a nap.
 *
 * All nodes of a lab share the cores of one machine. A rank that waits in an MPI yields in a loop, and to the
 * kernel it is one that runs: it takes its share from the ranks that have something to do, and times scatter.
 * In Linux 6.18 it takes more, up to the whole machine for a minute (docs/design/0011-the-lab.md). A nap ends
 * that; it adds up to its length, and the 50 us to which the kernel rounds it, to the time in which a message
 * is found: the same on both sides of a comparison. LAB_NAP_US is its length (python/hocket/lab/naps.py). */
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { YIELDS_BEFORE_NAP = 3, LEAST_NAP_US = 50, LONGEST_NAP_US = 10000 };

static long nap_ns;

__attribute__((constructor)) static void read_length(void) {
  const char* text = getenv("LAB_NAP_US");
  long us = text ? strtol(text, NULL, 10) : 0;
  if (us < LEAST_NAP_US) us = LEAST_NAP_US;
  if (us > LONGEST_NAP_US) us = LONGEST_NAP_US;
  nap_ns = us * 1000;
}

__attribute__((visibility("default"))) int sched_yield(void) {
  static _Thread_local unsigned yields = 0;
  if (yields++ < YIELDS_BEFORE_NAP) return (int)syscall(SYS_sched_yield);
  yields = 0;
  const struct timespec nap = {0, nap_ns};
  nanosleep(&nap, NULL);
  return 0;
}
