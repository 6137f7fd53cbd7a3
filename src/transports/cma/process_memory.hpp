// Reads of another process's memory by the kernel (cross memory attach): one copy, made by the reader alone.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "transports/transport.hpp"

namespace hocket::transports::cma {

/// Fills `target` from that process's memory. Returns 0 or the errno; nothing is known of the target's
/// content then.
int read_process_memory(pid_t process, std::uint64_t address, Piece target) noexcept;

}  // namespace hocket::transports::cma
