// Types and operations that the program has freed while non-blocking collectives are under way: MPI lets it,
// and has an operation keep what it uses. The MPI's own calls see to that; Hocket's unpack and reduce when
// the handles are gone. So the MPI is told when all have ended that were under way at the time, and
// no persistent one that uses handles of the program's is left.
#pragma once

#include <cstdint>

namespace hocket::interpose {

void install_frees(void** own);

/// All requests up to this number have ended. On a thread that may call MPI.
void free_unused(std::uint64_t ended) noexcept;

}  // namespace hocket::interpose
