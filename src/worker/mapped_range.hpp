// Memory of a rank that this process maps, where the rank has said that it may (engine/shared_memory.hpp).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/shared_memory.hpp"

namespace hocket::worker {

/// One of its ranges, for as long as somebody needs it.
class MappedRange {
 public:
  /// Throws Error where the rank has no such file, or one in which not every byte can always be touched.
  MappedRange(pid_t process, const engine::SharedRange& range);
  ~MappedRange();
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;

  bool holds(std::uint64_t address, std::size_t bytes) const noexcept {
    return address >= address_ && address - address_ <= memory_.size() &&
           bytes <= memory_.size() - (address - address_);
  }
  /// Where the rank's address is here, also of one outside of the range.
  std::byte* here(std::uint64_t address) const noexcept {
    const auto base = reinterpret_cast<std::uintptr_t>(memory_.data());
    return reinterpret_cast<std::byte*>(base + (address - address_));  // NOLINT(performance-no-int-to-ptr)
  }
  std::span<const std::byte> all() const noexcept { return memory_; }
  std::uint64_t address() const noexcept { return address_; }  ///< in the rank

 private:
  std::uint64_t address_;
  std::span<std::byte> memory_;
};

}  // namespace hocket::worker
