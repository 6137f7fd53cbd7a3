// Rights that a test needs or gives up, and whether this machine lets it: containers, seccomp filters and
// Yama take some away, and a test that needs them is skipped there.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "transports/cma/process_memory.hpp"

#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif

namespace hocket::harness {

/// In a process of its own, which keeps what it gave up.
inline bool works_in_a_child(bool (*body)()) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

/// Root is allowed more than a plain process. Fails without CAP_SETUID, and where the number is not mapped.
inline bool become_nobody() {
  constexpr uid_t nobody = 65534;
  return setgid(nobody) == 0 && setuid(nobody) == 0;
}

/// As a rank does when it publishes its card: Yama's scope 1 allows only ancestors otherwise.
inline void let_others_read() {
  prctl(PR_SET_PTRACER, -1L, 0L, 0L, 0L);
}

/// Reads, in one child, what another child of this process has written; 0 or what process_vm_readv says.
inline int error_of_sibling_read() {
  constexpr std::uint64_t secret = 0x5ec2e7;
  std::uint64_t word = 0;
  int ready[2], done[2];
  if (pipe(ready) != 0 || pipe(done) != 0) return errno;
  const pid_t owner = fork();
  if (owner == 0) {
    char mark = '!';
    close(done[1]);
    word = secret;
    let_others_read();
    const bool told = write(ready[1], &mark, 1) == 1;
    while (read(done[0], &mark, 1) > 0) {
    }  // until the parent closes its end
    _exit(told ? 0 : 1);
  }
  const pid_t reader = fork();
  if (reader == 0) {
    std::uint64_t got = 0;
    char mark = 0;
    if (read(ready[0], &mark, 1) != 1) _exit(EIO);
    const int error = transports::cma::read_process_memory(owner, reinterpret_cast<std::uintptr_t>(&word),
                                                           {reinterpret_cast<std::byte*>(&got), sizeof got});
    _exit(error != 0 ? error : got == secret ? 0 : EIO);
  }
  int status = 0;
  waitpid(reader, &status, 0);
  for (const int end : {ready[0], ready[1], done[0], done[1]}) close(end);
  waitpid(owner, nullptr, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

/// Empty where ranks can read each other's memory; else why not.
inline std::string why_no_reads() {
  static const int error = error_of_sibling_read();
  return error == EPERM || error == ENOSYS ? std::string("process_vm_readv: ") + std::strerror(error) : "";
}

}  // namespace hocket::harness
