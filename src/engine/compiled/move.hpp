// memcpy without the call for what fits a register; small counts dominate in compiled plans.
#pragma once

#include <cstddef>
#include <cstring>

namespace hocket::engine::compiled {

inline void move(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes == 8)
    std::memcpy(to, from, 8);
  else if (bytes == 4)
    std::memcpy(to, from, 4);
  else if (bytes != 0)
    std::memcpy(to, from, bytes);
}

}  // namespace hocket::engine::compiled
