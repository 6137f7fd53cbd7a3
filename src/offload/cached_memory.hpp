// Memory registered with SHARP's library, which has no cache of its own, and kept for the next time.
#pragma once

#include "offload/context.hpp"
#include "registration/backend.hpp"
#include "registration/cache.hpp"

namespace hocket::offload {

class CachedMemory final : public Registrar {
 public:
  /// Where changes of memory cannot be watched, it is registered for each aggregation. Throws Error.
  explicit CachedMemory(Context& context);

  registration::Lease lease(const void* address, std::size_t bytes) noexcept override;
  registration::Counters counters() const noexcept override { return cache_.counters(); }

 private:
  class Sharp final : public registration::Backend {
   public:
    explicit Sharp(Context& context) noexcept : context_(context) {}
    void* register_memory(void* address, std::size_t bytes) noexcept override;
    void forget_memory(void* handle) noexcept override;

   private:
    Context& context_;
  };

  Sharp sharp_;
  registration::Cache cache_;
};

}  // namespace hocket::offload
