// MPI_Alloc_mem: memory that the node's worker maps, for programs that have one.
#include "engine/shared_memory.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/install.hpp"
#include "interpose/plugin/process.hpp"

namespace hocket::interpose {
namespace {

// Smaller pieces are not worth whole pages.
constexpr MPI_Aint least_bytes = 64 << 10;

// Hints are for the MPI.
bool is_for_worker(MPI_Aint bytes, MPI_Info info, const void* base) {
  return process.on && base && bytes >= least_bytes && info == null().info && process.engine->worker();
}

int alloc_mem(MPI_Aint bytes, MPI_Info info, void* base) {
  void* const piece =
      is_for_worker(bytes, info, base) ? engine::take_shared(static_cast<std::size_t>(bytes)) : nullptr;
  if (!piece) return host().Alloc_mem(bytes, info, base);
  *static_cast<void**>(base) = piece;
  return MPI_SUCCESS;
}

int free_mem(void* base) {
  return engine::give_back_shared(base) ? MPI_SUCCESS : host().Free_mem(base);
}

}  // namespace

void install_memory(void** own) {
  install(own, HOCKET_CALL_Alloc_mem, &alloc_mem);
  install(own, HOCKET_CALL_Free_mem, &free_mem);
}

}  // namespace hocket::interpose
