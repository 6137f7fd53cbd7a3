// Types and operations that the program has freed while collectives may still use them: MPI lets it, and has
// an operation keep what it uses. The MPI's own calls see to that; Hocket's unpack and reduce when the
// handles are gone. So the MPI is told when all operations have ended that were under way at the time, and no
// persistent request that uses the handle is left.
#pragma once

#include <cstdint>

#include "interpose/plugin/handles/used_handles.hpp"

namespace hocket::interpose {

/// A persistent request: it may be started at any time. Throws std::bad_alloc.
void add_user_of(const UsedHandles& handles);
void remove_user_of(const UsedHandles& handles) noexcept;

void install_frees(void** own);

/// All requests up to this number have ended. On a thread that may call MPI.
void free_unused(std::uint64_t ended) noexcept;

}  // namespace hocket::interpose
