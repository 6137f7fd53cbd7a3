// Runs a command in which memfd_create fails with EPERM, as it does where a sandbox does not know the call.
//   without_memfd COMMAND...
// Exit status 77: no seccomp filters here.
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/forbid_call.hpp"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (!hocket::harness::forbid_call(SYS_memfd_create)) return 77;
  execvp(argv[1], argv + 1);
  return 127;
}
