// Who a process is beyond its number, which the system uses again: the time it started, and the PID namespace
// that counts it.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace hocket {

/// Clock ticks after boot (field 22 of /proc/PID/stat); 0 if there is no such process, or only its remains (a
/// zombie).
std::uint64_t start_time_of(pid_t pid);

struct Activity {
  char state = '\0';         ///< as ps shows it: 'R' runs, or waits for a core; 0: there is no such process
  std::uint64_t ran_ns = 0;  ///< on a core, so far
};
Activity activity_of(pid_t pid);

/// Inode of this process's PID namespace; 0 if it cannot be told. Numbers of processes compare only within
/// one.
std::uint64_t pid_namespace();

}  // namespace hocket
