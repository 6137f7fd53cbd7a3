#include "interpose/plugin/collectives/aliases.hpp"

#include <cstdlib>

#include "base/on_off.h"

namespace hocket::interpose {
namespace {

bool looks() {
#if defined(HOCKET_ABI_OMPI)
  return false;
#else
  const char* wish = std::getenv("MPIR_CVAR_COLL_ALIAS_CHECK");
  return !wish || !hocket_means_off(wish);
#endif
}

}  // namespace

bool mpi_refuses_aliases() {
  static const bool refuses = looks();
  return refuses;
}

}  // namespace hocket::interpose
