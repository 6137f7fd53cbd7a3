#include "offload/cached_memory.hpp"

#include "base/error.hpp"
#include "registration/userfault_watch.hpp"

namespace hocket::offload {

namespace {

/// What is shorter is not streamed: the library copies it, handle or not.
constexpr std::size_t least_registered_bytes = std::size_t{16} << 10U;

std::unique_ptr<registration::Watch> watch_if_possible() {
  try {
    return std::make_unique<registration::UserfaultWatch>();
  } catch (const Error&) {  // not worth an error: slower, and as right
    return nullptr;
  }
}

}  // namespace

CachedMemory::CachedMemory(Context& context)
    : sharp_(context), cache_(sharp_, watch_if_possible(), registration::Limits::of_this_process()) {}

registration::Lease CachedMemory::lease(const void* address, std::size_t bytes) noexcept {
  return bytes < least_registered_bytes ? registration::Lease() : cache_.lease(address, bytes);
}

void* CachedMemory::Sharp::register_memory(void* address, std::size_t bytes) noexcept {
  void* handle = nullptr;
  const int error = context_.library->functions().reg_mr(context_.handle, address, bytes, &handle);
  return error == SHARP_COLL_SUCCESS ? handle : nullptr;
}

void CachedMemory::Sharp::forget_memory(void* handle) noexcept {
  context_.library->functions().dereg_mr(context_.handle, handle);
}

}  // namespace hocket::offload
