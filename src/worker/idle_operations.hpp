// A rank's operations that are not under way. They wait with their mirrors for the next start of their
// definitions; there is room for so many bytes of the last used ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "worker/carried.hpp"

namespace hocket::worker {

class IdleOperations {
 public:
  explicit IdleOperations(std::size_t most_bytes) noexcept : most_bytes_(most_bytes) {}

  /// Null: none of this definition is idle.
  std::unique_ptr<Carried> take(std::uint32_t definition);
  /// The one that was kept last stays, however large it is.
  void keep(std::uint32_t definition, std::unique_ptr<Carried> operation);
  void forget(std::uint32_t definition);

  std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Idle {
    std::uint32_t definition;
    std::unique_ptr<Carried> operation;
  };
  using Recent = std::list<Idle>;

  std::unique_ptr<Carried> take_out(Recent::iterator one);
  void free_oldest();

  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  Recent recent_;  ///< the last used first
  std::unordered_map<std::uint32_t, std::vector<Recent::iterator>> by_definition_;
};

}  // namespace hocket::worker
