#include "interpose/plugin/requests/hooks.hpp"

#include "interpose/plugin/host.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {
namespace {

using Callback = int (*)();
using Registration = int (*)(Callback);

bool hooked = false;

int progress_once() {
  if (is_anything_under_way()) progress();
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

}  // namespace hocket::interpose
