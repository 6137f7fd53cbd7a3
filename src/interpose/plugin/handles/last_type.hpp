// The type that one side of a communicator's calls had last. Programs pass the same few over and over:
// comparing a handle then saves looking it up, and for derived types a lock. One thread at a time: MPI allows
// one collective at a time on a communicator.
#pragma once

#include <cstdint>

#include "interpose/plugin/handles/types.hpp"

namespace hocket::interpose {

class LastType {
 public:
  /// As type_of(), null for nothing. Stays as it is until another type is asked for.
  const Type* of(MPI_Datatype handle) {
    const std::uint32_t epoch = type_epoch.load(std::memory_order_relaxed);
    if (epoch == epoch_ && handle == type_.handle) [[likely]]
      return &type_;
    return look_up(handle, epoch);
  }

 private:
  const Type* look_up(MPI_Datatype handle, std::uint32_t epoch) {
    const std::optional<Type> found = type_of(handle);
    if (!found) return nullptr;
    type_ = *found;
    epoch_ = epoch;
    return &type_;
  }

  Type type_;
  std::uint32_t epoch_ = 0;  ///< of the look-up; 0: none yet
};

}  // namespace hocket::interpose
