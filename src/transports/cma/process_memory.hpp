// Another process's memory, read or written by the kernel (cross memory attach): one copy, made by one side
// alone.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "transports/transport.hpp"

namespace hocket::transports::cma {

/// Fills `target` from that process's memory. Returns 0 or the errno; nothing is known of the target's
/// content then.
int read_process_memory(pid_t process, std::uint64_t address, Piece target) noexcept;

/// The other way. Nothing is known of what was written if it fails.
int write_process_memory(pid_t process, std::uint64_t address, Piece source) noexcept;

}  // namespace hocket::transports::cma
