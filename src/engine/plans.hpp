// The plans of a communicator, by what they depend on; message sizes are not among it. The most recently used
// ones: one that is given up lives on as long as somebody runs it, and comes out the same when it is built
// again. So ranks need not give up the same ones.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "executors/plan.hpp"
#include "passes/recipe.hpp"

namespace hocket::engine {

class Plans {
 public:
  using Shared = std::shared_ptr<const executors::Plan>;

  explicit Plans(std::size_t capacity = 64) : capacity_(capacity) {}

  /// Builds the plan the first time. `near` is always the same. May allocate and throw.
  Shared get(const passes::Recipe& recipe, const ir::Request& request,
             const passes::Neighbourhood* near = nullptr);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    passes::Recipe recipe;
    ir::Request request;
    Shared plan;
    std::uint64_t last_used;
  };
  void add(Entry entry);

  const std::size_t capacity_;
  std::vector<Entry> entries_;
  std::uint64_t clock_ = 0;
};

}  // namespace hocket::engine
