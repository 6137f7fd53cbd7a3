// mpi.h of the family this plugin is built for, made safe for a library that may name no MPI symbol.
//
// Functions are only ever named inside decltype (see host.hpp). Open MPI's predefined handles are addresses
// of data, whose relocations would kill every process without MPI that inherits the preload, and whose right
// address only stage 0 knows (COPY relocations): its macros become look-ups here. They are slow, so values
// are taken once and kept.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace hocket::interpose {
/// Address of a data symbol of the MPI; null when this version has none of that name.
void* mpi_data(const char* symbol);
}  // namespace hocket::interpose

#if defined(HOCKET_ABI_OMPI)
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) (reinterpret_cast<type>(::hocket::interpose::mpi_data(#global)))
#elif !defined(HOCKET_ABI_MPICH) && !defined(HOCKET_ABI_STANDARD)
#error "define the ABI to build for: HOCKET_ABI_OMPI, HOCKET_ABI_MPICH or HOCKET_ABI_STANDARD"
#endif

namespace hocket::interpose {

/// Handles are integers in one ABI and pointers in the others; tables are keyed by their bits.
using HandleBits = std::uintptr_t;
template <class Handle>
HandleBits bits_of(Handle handle) {
  if constexpr (sizeof(Handle) < sizeof(HandleBits))
    return static_cast<std::uint32_t>(handle);
  else
    return reinterpret_cast<HandleBits>(handle);
}

}  // namespace hocket::interpose
