// Whoever needs memory registered: a network card, SHARP's library, a ring of the kernel's.
#pragma once

#include <cstddef>

namespace hocket::registration {

class Backend {
 public:
  virtual ~Backend() = default;
  /// Null: it cannot be, now or ever.
  virtual void* register_memory(void* address, std::size_t bytes) noexcept = 0;
  /// Also of memory that is not there any more.
  virtual void forget_memory(void* handle) noexcept = 0;
};

}  // namespace hocket::registration
