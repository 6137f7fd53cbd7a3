// SHARP's context, held by the tree and by each of its groups: it ends with the last of them.
#pragma once

#include <cstddef>
#include <memory>

#include "offload/library.hpp"
#include "offload/out_of_band.hpp"
#include "registration/cache.hpp"

namespace hocket::offload {

/// Where handles of registered memory come from, if a library wants them: NVIDIA's copies what has none, and
/// streams none of that; Hocket's never looks at them.
class Registrar {
 public:
  virtual ~Registrar() = default;
  /// Held while an aggregation is on its way. Empty: there is no handle.
  virtual registration::Lease lease(const void* address, std::size_t bytes) noexcept = 0;
  virtual registration::Counters counters() const noexcept = 0;
};

struct Context {
  explicit Context(std::unique_ptr<const Library> from) noexcept : library(std::move(from)) {}
  ~Context() {
    registrar.reset();
    if (handle) library->functions().finalize(handle);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const std::unique_ptr<const Library> library;
  OutOfBandContext world;
  sharp_coll_context* handle = nullptr;
  std::size_t longest_part = 0;
  std::unique_ptr<Registrar> registrar;
};

}  // namespace hocket::offload
