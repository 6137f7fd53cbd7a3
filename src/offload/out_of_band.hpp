// How members talk before they have the network: in Tree::open and Tree::make_group, nowhere else.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/status.hpp"
#include "sharp/api/sharp_coll.h"

namespace hocket::offload {

/// Collective among the members. Status::ok, or anything else: it failed.
class OutOfBand {
 public:
  virtual ~OutOfBand() = default;
  virtual Status bcast(void* data, int bytes, int root) noexcept = 0;
  virtual Status barrier() noexcept = 0;
  /// `bytes` of each member, in their order, into `received` of the root alone.
  virtual Status gather(int root, const void* sent, void* received, int bytes) noexcept = 0;
};

struct Member {
  int rank = 0, size = 1;
};

/// What member 0 makes of the values of all, on all. `combine` takes a span of them. Nothing: no agreement.
template <class Value, class Combine>
std::optional<Value> agree(OutOfBand& members, const Member& self, const Value& own, Combine combine) {
  static_assert(std::is_trivially_copyable_v<Value>);
  constexpr int bytes = static_cast<int>(sizeof(Value));
  std::vector<Value> of_all(static_cast<std::size_t>(self.size), own);
  if (members.gather(0, &own, of_all.data(), bytes) != Status::ok) return std::nullopt;
  Value agreed = self.rank == 0 ? combine(std::span<const Value>(of_all)) : own;
  if (members.bcast(&agreed, bytes, 0) != Status::ok) return std::nullopt;
  return agreed;
}

/// The context that SHARP's library hands to `out_of_band_functions`. It is kept longer than the members may
/// be spoken to: a library that calls when it must not gets an error.
struct OutOfBandContext {
  OutOfBand* members = nullptr;
};
extern const sharp_coll_out_of_band_colls out_of_band_functions;

/// Opens the way for as long as it lives.
class Speaking {
 public:
  Speaking(OutOfBandContext& context, OutOfBand& members) noexcept : context_(context) {
    context_.members = &members;
  }
  ~Speaking() { context_.members = nullptr; }
  Speaking(const Speaking&) = delete;
  Speaking& operator=(const Speaking&) = delete;

 private:
  OutOfBandContext& context_;
};

}  // namespace hocket::offload
