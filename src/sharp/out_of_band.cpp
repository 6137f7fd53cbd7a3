#include "sharp/out_of_band.hpp"

#include <algorithm>

#include "sharp/refusal.hpp"

namespace hocket::sharp {

OutOfBand::OutOfBand(const sharp_coll_out_of_band_colls& functions, void* context, int rank, int size)
    : functions_(functions), context_(context), rank_(rank), size_(size) {
  if (size < 1 || rank < 0 || rank >= size) throw Refusal(SHARP_COLL_EINVAL, "a rank that is none");
  if (size > 1 && (!functions.bcast || !functions.gather))
    throw Refusal(SHARP_COLL_EOOB, "an out-of-band function is missing");
}

void OutOfBand::broadcast_bytes(void* buffer, std::size_t bytes) const {
  if (size_ > 1 && functions_.bcast(context_, buffer, static_cast<int>(bytes), 0) != 0)
    throw Refusal(SHARP_COLL_EOOB, "the out-of-band broadcast failed");
}

void OutOfBand::gather_bytes(void* own, void* of_all, std::size_t bytes) const {
  if (size_ > 1 && functions_.gather(context_, 0, own, of_all, static_cast<int>(bytes)) != 0)
    throw Refusal(SHARP_COLL_EOOB, "the out-of-band gathering failed");
}

int OutOfBand::worst_of_all(int error) const {
  return agree(error, [](std::span<const int> errors) {
    const auto found = std::ranges::find_if(errors, [](int one) { return one != 0; });
    return found == errors.end() ? 0 : *found;
  });
}

}  // namespace hocket::sharp
