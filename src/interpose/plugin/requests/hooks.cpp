#include "interpose/plugin/requests/hooks.hpp"

#include <atomic>

#include "interpose/plugin/host.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {

constinit thread_local int WithoutHook::depth __attribute__((tls_model("initial-exec"))) = 0;

namespace {

using Callback = int (*)();
using Registration = int (*)(Callback);

bool hooked = false;

int progress_once() {
  if (WithoutHook::any()) return 0;
  if (is_anything_under_way())
    progress();
  else
    hear_of_workers();
  return 0;
}

Registration registration(const char* name) {
#if defined(HOCKET_ABI_OMPI)
  return reinterpret_cast<Registration>(host_symbol(name));
#else
  return (void)name, nullptr;
#endif
}

}  // namespace

void hook_into_mpi() {
  const Registration add = registration("opal_progress_register");
  hooked = add && add(progress_once) == 0;
}

void unhook_from_mpi() {
  const Registration remove = registration("opal_progress_unregister");
  if (hooked && remove) remove(progress_once);
  hooked = false;
}

bool is_hooked_into_mpi() {
  return hooked;
}

#if defined(HOCKET_ABI_MPICH)

bool lends_progress() {
  return host_symbol("PMPIX_Async_start") != nullptr;
}

namespace {

// MPICH's own names and values (mpi.h of MPICH 5), which the other members of this family lack.
using AsyncThing = struct AsyncThingOfMpich*;
using AsyncStart = int (*)(int (*poll)(AsyncThing), void* extra_state, int stream);
constexpr int no_stream = 0x3c000000, async_no_progress = 0, async_done = 1;

std::atomic<bool> lent{false};

int poll(AsyncThing) {
  if (is_anything_under_way()) {
    advance_needing(engine::Outstanding::Needs::nothing);
    return async_no_progress;
  }
  lent = false;
  // Somebody may have started one since, and found it lent.
  return is_anything_under_way() && !lent.exchange(true) ? async_no_progress : async_done;
}

}  // namespace

void lend_progress_to_mpi() noexcept {
  static const auto start = reinterpret_cast<AsyncStart>(host_symbol("PMPIX_Async_start"));
  if (!start || lent.exchange(true)) return;
  if (start(poll, nullptr, no_stream) != MPI_SUCCESS) lent = false;
}

#else

bool lends_progress() {
  return registration("opal_progress_register") != nullptr;
}

void lend_progress_to_mpi() noexcept {}

#endif

}  // namespace hocket::interpose
