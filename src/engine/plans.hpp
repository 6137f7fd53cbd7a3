// The plans of a communicator, by what they depend on; message sizes are not among it.
#pragma once

#include <memory>
#include <vector>

#include "algorithms/catalog.hpp"
#include "executors/plan.hpp"

namespace hocket::engine {

class Plans {
 public:
  /// Builds the plan the first time. May allocate and throw.
  const executors::Plan& get(const algorithms::Algorithm& algorithm, const ir::Request& request);

 private:
  struct Entry {
    const algorithms::Algorithm* algorithm;
    ir::Request request;
    std::unique_ptr<executors::Plan> plan;
  };
  std::vector<Entry> entries_;
};

}  // namespace hocket::engine
