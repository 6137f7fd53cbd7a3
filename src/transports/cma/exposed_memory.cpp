#include "transports/cma/exposed_memory.hpp"

#include "transports/cma/process_memory.hpp"

namespace hocket::transports::cma {
namespace {

std::atomic<std::uint64_t>& address_in(shm::Exposure& exposure, bool output) {
  return output ? exposure.output : exposure.input;
}

}  // namespace

/// The signal that follows publishes it.
void ExposedMemory::expose(bool output, const void* base) noexcept {
  address_in(channel_.area_of(channel_.rank()).exposure, output)
      .store(reinterpret_cast<std::uintptr_t>(base), std::memory_order_relaxed);
}

Status ExposedMemory::read_exposed(Rank owner, bool output, std::ptrdiff_t offset, Piece target) noexcept {
  const std::uint64_t base =
      address_in(channel_.area_of(owner).exposure, output).load(std::memory_order_relaxed);
  const int error = read_process_memory(processes_[static_cast<std::size_t>(owner)],
                                        base + static_cast<std::uint64_t>(offset), target);
  if (error == 0) return Status::ok;
  failure_ = {owner, error};
  return Status::failed;
}

}  // namespace hocket::transports::cma
