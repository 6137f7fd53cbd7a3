#include "offload/out_of_band.hpp"

namespace hocket::offload {

namespace {

template <class Act>
int with_members(void* context, Act act) noexcept {
  OutOfBand* const members = static_cast<OutOfBandContext*>(context)->members;
  return members && act(*members) == Status::ok ? 0 : -1;
}

int bcast(void* context, void* data, int bytes, int root) noexcept {
  return with_members(context, [&](OutOfBand& members) { return members.bcast(data, bytes, root); });
}

int barrier(void* context) noexcept {
  return with_members(context, [](OutOfBand& members) { return members.barrier(); });
}

int gather(void* context, int root, void* sent, void* received, int bytes) noexcept {
  return with_members(context,
                      [&](OutOfBand& members) { return members.gather(root, sent, received, bytes); });
}

}  // namespace

const sharp_coll_out_of_band_colls out_of_band_functions = {bcast, barrier, gather};

}  // namespace hocket::offload
