// What the members of a group let the network do for them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.hpp"

namespace hocket::offload {

enum class Kind : std::uint8_t { allreduce, reduce, bcast, barrier };

/// As one member takes part in it.
struct Aggregation {
  Kind kind = Kind::barrier;
  int root = 0;                  ///< of reduce and bcast: its index in the group
  const void* source = nullptr;  ///< of who contributes
  void* target = nullptr;        ///< of who wants the result; may be the source
  std::size_t bytes = 0;
  // of allreduce and reduce
  kernels::ElementType type = kernels::ElementType::none;
  kernels::OpKind op = kernels::OpKind::none;
};

}  // namespace hocket::offload
