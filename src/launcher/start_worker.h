/* Starts the node's worker process (hocketd), from the hocket-exec of local rank 0, before it becomes the
 * program: a fork inside of MPI is unsafe. */
#pragma once

/* So many on each node; 0 or less: none. */
long workers_asked_for(void);

/* Does nothing unless HOCKET_WORKERS asks for workers and this is local rank 0. `folder`: where hocketd is.
 * Returns NULL, or why there is none. */
const char* start_worker(const char* folder);
