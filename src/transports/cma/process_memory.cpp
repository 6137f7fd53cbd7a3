#include "transports/cma/process_memory.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace hocket::transports::cma {
namespace {

// The kernel moves less than 2 GiB per call (MAX_RW_COUNT). Short calls also let signals in.
constexpr std::size_t longest_move = std::size_t{1} << 28U;

/// `call`: process_vm_readv or its counterpart.
template <class Call>
int move(Call call, pid_t process, std::uint64_t address, Piece own) noexcept {
  while (own.bytes > 0) {
    const std::size_t bytes = std::min(own.bytes, longest_move);
    const iovec here{own.data, bytes};
    const iovec there{reinterpret_cast<void*>(address),
                      bytes};  // NOLINT(performance-no-int-to-ptr): not ours
    const ssize_t moved = call(process, &here, 1, &there, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return errno;
    if (moved == 0) return EFAULT;
    // Fewer than asked for: the next call says why, or goes on.
    own.data += moved;
    own.bytes -= static_cast<std::size_t>(moved);
    address += static_cast<std::uint64_t>(moved);
  }
  return 0;
}

}  // namespace

int read_process_memory(pid_t process, std::uint64_t address, Piece target) noexcept {
  return move(process_vm_readv, process, address, target);
}

int write_process_memory(pid_t process, std::uint64_t address, Piece source) noexcept {
  return move(process_vm_writev, process, address, source);
}

}  // namespace hocket::transports::cma
