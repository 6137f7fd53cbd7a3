// What SHARP's library has its caller say to the other members, as collectives that messages carry.
#pragma once

#include <string_view>

#include "executors/operation.hpp"
#include "offload/out_of_band.hpp"

namespace hocket::engine::aggregation {

class Spoken : public offload::OutOfBand {
 public:
  Status bcast(void* data, int bytes, int root) noexcept final;
  Status barrier() noexcept final;
  Status gather(int root, const void* sent, void* received, int bytes) noexcept final;

 private:
  /// By this row of the catalog, to its end.
  virtual Status say(std::string_view algorithm, const executors::Operation& operation) noexcept = 0;
};

}  // namespace hocket::engine::aggregation
