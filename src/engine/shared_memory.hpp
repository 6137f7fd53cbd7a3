// Memory of this process that its node's worker may map: what MPI_Alloc_mem has given out here, and the
// shared heap's, where libhocket_heap.so is preloaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hocket::engine {

struct SharedRange {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t device = 0, inode = 0;  ///< of its file: others may come under the same descriptor
  std::int32_t file = -1;               ///< a descriptor of this process
  std::int32_t none = 0;                ///< no gap: it goes to the worker as it lies in memory
  bool operator==(const SharedRange&) const = default;
};

/// As they are now; each stays as it is until the process ends. Throws std::bad_alloc.
std::vector<SharedRange> shared_ranges();

/// Large pieces that malloc gives out are such memory.
bool has_shared_heap() noexcept;

/// For MPI_Alloc_mem. Null: there is none.
void* take_shared(std::size_t bytes) noexcept;
/// False: it was not taken here.
bool give_back_shared(void* piece) noexcept;

}  // namespace hocket::engine
