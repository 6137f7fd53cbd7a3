// The kernels' types and operations as SHARP's, where they mean the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/kernels.hpp"
#include "sharp/api/sharp_coll.h"

namespace hocket::offload {

struct Reduction {
  sharp_datatype type = SHARP_DTYPE_NULL;
  sharp_reduce_op op = SHARP_OP_NULL;
  sharp_datatype tag_type = SHARP_DTYPE_NULL;  ///< of maxloc and minloc
  std::size_t element_bytes = 1;
};

/// Nothing: SHARP has no such reduction.
std::optional<Reduction> reduction_of(kernels::OpKind op, kernels::ElementType type) noexcept;

/// What a tree has of them: the bits of sharp_coll_caps.
struct Repertoire {
  std::uint64_t types = 0, tag_types = 0, operations = 0;

  bool has_type(sharp_datatype type) const noexcept { return ((types >> type) & 1U) != 0; }
  bool has(const Reduction& reduction) const noexcept;
};

}  // namespace hocket::offload
