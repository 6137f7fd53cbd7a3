// sharp_coll.h: registration of memory, which sockets do not need. Handles are given out because callers take
// none for an error.
#include <memory>

#include "sharp/interface/edge.hpp"

using namespace hocket::sharp;

namespace {

struct Registration {};

int give_handle(sharp_coll_context* context, void** handle) {
  context_of(context);
  given(handle) = std::make_unique<Registration>().release();
  return SHARP_COLL_SUCCESS;
}

bool is_of_device(const sharp_coll_reg_params& params) noexcept {
  return (params.field_mask & SHARP_COLL_REG_FIELD_DMABUF_FD) != 0 && params.dmabuf_fd >= 0;
}

}  // namespace

extern "C" {

int sharp_coll_reg_mr(sharp_coll_context* context, void* /*buf*/, size_t /*size*/, void** mr) {
  return at_edge("sharp_coll_reg_mr", false, [&] { return give_handle(context, mr); });
}

int sharp_coll_reg_mr_v2(sharp_coll_context* context, void* /*buf*/, size_t /*size*/,
                         const sharp_coll_reg_params* params, void** mr) {
  return at_edge("sharp_coll_reg_mr_v2", false, [&] {
    if (params && is_of_device(*params))
      throw Refusal(SHARP_COLL_ENOT_SUPP, "memory of devices is not supported");
    return give_handle(context, mr);
  });
}

int sharp_coll_dereg_mr(sharp_coll_context* context, void* mr) {
  return at_edge("sharp_coll_dereg_mr", false, [&] {
    context_of(context);
    const std::unique_ptr<Registration> ended(static_cast<Registration*>(mr));
    return SHARP_COLL_SUCCESS;
  });
}

}  // extern "C"
