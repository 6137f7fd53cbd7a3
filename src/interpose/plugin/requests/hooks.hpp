// Progress inside the MPI's own blocking calls, where it lets others take part.
#pragma once

namespace hocket::interpose {

/// After MPI has been started, and before it ends.
void hook_into_mpi();
void unhook_from_mpi();
/// Open MPI: its progress engine calls Hocket for good, and Hocket may call the MPI from there.
bool is_hooked_into_mpi();

/// While one lives, the MPI's progress engine does not come back to Hocket on this thread: for calls of the
/// MPI under a lock that Hocket's progress takes as well.
class WithoutHook {
 public:
  WithoutHook() noexcept { ++depth; }
  ~WithoutHook() { --depth; }
  WithoutHook(const WithoutHook&) = delete;
  WithoutHook& operator=(const WithoutHook&) = delete;
  static bool any() noexcept { return depth != 0; }

 private:
  static constinit thread_local int depth __attribute__((tls_model("initial-exec")));
};

/// Does this MPI have a progress engine that others can take part in, in one way or the other?
bool lends_progress();

/// MPICH 5: something is under way; until all of it has ended its progress engine goes on with what can do
/// without a call of the MPI.
void lend_progress_to_mpi() noexcept;

}  // namespace hocket::interpose
