// A copy of an in-place call's input, for rows that would overwrite what they still have to read.
#pragma once

#include <cstddef>
#include <vector>

#include "executors/operation.hpp"

namespace hocket::engine {

class InputCopy {
 public:
  /// The operation with its input copied, valid until the next one. Grows the first time; throws
  /// std::bad_alloc.
  const executors::Operation& of(const executors::Operation& op, executors::Rank ranks);

 private:
  executors::Operation copied_;
  std::vector<std::byte> memory_;
  std::vector<std::ptrdiff_t> offsets_;
};

}  // namespace hocket::engine
