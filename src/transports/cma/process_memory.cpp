#include "transports/cma/process_memory.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace hocket::transports::cma {
namespace {

// The kernel moves less than 2 GiB per call (MAX_RW_COUNT). Short calls also let signals in.
constexpr std::size_t longest_read = std::size_t{1} << 28U;

}  // namespace

int read_process_memory(pid_t process, std::uint64_t address, Piece target) noexcept {
  while (target.bytes > 0) {
    const std::size_t bytes = std::min(target.bytes, longest_read);
    const iovec here{target.data, bytes};
    const iovec there{reinterpret_cast<void*>(address),
                      bytes};  // NOLINT(performance-no-int-to-ptr): not ours
    const ssize_t moved = process_vm_readv(process, &here, 1, &there, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return errno;
    if (moved == 0) return EFAULT;
    // Fewer than asked for: the next call says why, or goes on.
    target.data += moved;
    target.bytes -= static_cast<std::size_t>(moved);
    address += static_cast<std::uint64_t>(moved);
  }
  return 0;
}

}  // namespace hocket::transports::cma
