#include "interpose/plugin/revocation.hpp"

#include <array>
#include <optional>

#include "interpose/plugin/host.hpp"

namespace hocket::interpose {
namespace {

/// The MPI's own variable of that name, as a flag; nothing where it has none.
std::optional<bool> read_flag(const char* name) {
  int index = -1, count = 0;
  MPI_T_cvar_handle handle;
  if (host().T_cvar_get_index(name, &index) != MPI_SUCCESS) return std::nullopt;
  if (host().T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return std::nullopt;
  std::array<char, 64> value{};
  const bool read = count == 1 && host().T_cvar_read(handle, value.data()) == MPI_SUCCESS;
  host().T_cvar_handle_free(&handle);
  if (!read) return std::nullopt;
  return value != std::array<char, 64>{};
}

}  // namespace

// Open MPI 5 takes the level that its tools interface is started with for that of the whole process.
void find_out_about_revocation() {
  int level = MPI_THREAD_SINGLE, provided = 0;
  if (!host().Comm_is_revoked || !host().T_init_thread) return;
  if (host().Query_thread(&level) != MPI_SUCCESS) return;
  if (host().T_init_thread(level, &provided) != MPI_SUCCESS) return;
  if (read_flag("mpi_ft_enable") == false) host_functions.Comm_is_revoked = nullptr;
  host().T_finalize();
}

}  // namespace hocket::interpose
