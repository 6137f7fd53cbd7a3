// SHARP's types and operations, and which of the kernels' they are.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/kernels.hpp"
#include "sharp/api/sharp_coll.h"

namespace hocket::sharp {

struct Reduction {
  kernels::ElementType type = kernels::ElementType::none;
  kernels::OpKind op = kernels::OpKind::none;

  /// Bytes; 1 where nothing is combined.
  std::size_t element_size() const noexcept {
    return type == kernels::ElementType::none ? 1 : kernels::element_size(type);
  }
};

/// Nothing: there is no such reduction.
std::optional<Reduction> reduction_of(const sharp_coll_reduce_spec& spec) noexcept;

// as capabilities are told
std::uint64_t all_types() noexcept;
std::uint64_t all_tag_types() noexcept;
std::uint64_t all_operations() noexcept;

}  // namespace hocket::sharp
