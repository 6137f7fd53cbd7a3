// A call's collective, type and operation as the network's.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/collective.hpp"
#include "kernels/kernels.hpp"
#include "offload/aggregation.hpp"

namespace hocket::engine::aggregation {

/// Nothing: not for the network.
inline std::optional<offload::Kind> kind_of(ir::Collective collective) noexcept {
  switch (collective) {
    case ir::Collective::allreduce:
      return offload::Kind::allreduce;
    case ir::Collective::reduce:
      return offload::Kind::reduce;
    case ir::Collective::bcast:
      return offload::Kind::bcast;
    case ir::Collective::barrier:
      return offload::Kind::barrier;
    default:
      return std::nullopt;
  }
}

/// Reduction::operation and element_type count from 1; 0 is what is not predefined.
inline kernels::OpKind op_of(std::uint8_t operation) noexcept {
  return operation == 0 ? kernels::OpKind::none : static_cast<kernels::OpKind>(operation - 1);
}
inline kernels::ElementType type_of(std::uint8_t element_type) noexcept {
  return element_type == 0 ? kernels::ElementType::none : static_cast<kernels::ElementType>(element_type - 1);
}

}  // namespace hocket::engine::aggregation
