// The caller's own way between ranks, and the agreements for which it is used: what ranks find out each for
// itself becomes one verdict for all. What is handed on to the functions is not looked at: callers leave it
// unset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "sharp/api/sharp_coll.h"

namespace hocket::sharp {

class OutOfBand {
 public:
  /// Of `size` ranks. Throws Refusal where a function is missing, or `rank` is none of them.
  OutOfBand(const sharp_coll_out_of_band_colls& functions, void* context, int rank, int size);

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// Rank 0's, on all. Throws Refusal.
  template <class Value>
  void broadcast(Value& value) const {
    static_assert(std::is_trivially_copyable_v<Value>);
    broadcast_bytes(&value, sizeof value);
  }

  /// What rank 0 makes of the values of all ranks, on all. `combine` takes a span of them. Throws Refusal.
  template <class Value, class Combine>
  Value agree(Value own, Combine combine) const {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<Value> of_all(static_cast<std::size_t>(size_), own);
    gather_bytes(&own, of_all.data(), sizeof own);
    Value agreed = rank_ == 0 ? combine(std::span<const Value>(of_all)) : own;
    broadcast(agreed);
    return agreed;
  }

  /// The first rank's error that has one; 0: none has.
  int worst_of_all(int error) const;

 private:
  void broadcast_bytes(void* buffer, std::size_t bytes) const;
  void gather_bytes(void* own, void* of_all, std::size_t bytes) const;

  sharp_coll_out_of_band_colls functions_;
  void* context_;
  int rank_, size_;
};

}  // namespace hocket::sharp
