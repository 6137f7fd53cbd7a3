// Whether a derived type is a plain run of bytes. Sizes and extents alone cannot tell: indexed({1,1}, {1,0})
// has no gap but another order. So its construction is read, once per type; whatever is not recognised is
// packed.
#include "interpose/plugin/handles/construction.hpp"
#include "interpose/plugin/handles/types.hpp"
#include "interpose/plugin/host.hpp"

namespace hocket::interpose {
namespace {

bool is_gapless_part(MPI_Datatype part, MPI_Count* size) {
  MPI_Count lb = 0, extent = 0;
  if (host().Type_size_x(part, size) != MPI_SUCCESS ||
      host().Type_get_extent_x(part, &lb, &extent) != MPI_SUCCESS)
    return false;
  return is_gapless(part, static_cast<std::size_t>(*size), lb, extent);
}

// Blocks of gapless parts, each beginning where the one before has ended.
bool is_gapless_struct(const Construction& c) {
  MPI_Count end = 0;
  for (std::size_t i = 0; i < c.parts().size(); ++i) {
    MPI_Count size = 0;
    const MPI_Count length = c.integer(i + 1);
    if (length == 0) continue;
    if (c.address(i) != end || !is_gapless_part(c.parts()[i], &size)) return false;
    end += length * size;
  }
  return true;
}

bool is_gapless_vector(const Construction& c) {
  MPI_Count size = 0;
  if (!is_gapless_part(c.parts()[0], &size)) return false;
  const MPI_Count count = c.integer(0), block = c.integer(1);
  if (count == 1) return true;
  return c.combiner() == MPI_COMBINER_VECTOR ? c.integer(2) == block : c.address(0) == block * size;
}

}  // namespace

bool is_gapless(MPI_Datatype handle, std::size_t size, std::ptrdiff_t lb, std::ptrdiff_t extent) {
  if (lb != 0 || extent < 0 || static_cast<std::size_t>(extent) != size) return false;
  const auto c = Construction::of(handle);
  if (!c) return false;
  MPI_Count part_size = 0;
  switch (c->combiner()) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_INTEGER:
    case MPI_COMBINER_F90_COMPLEX:
      return true;
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_RESIZED:
      return is_gapless_part(c->parts()[0], &part_size);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
      return is_gapless_vector(*c);
    case MPI_COMBINER_STRUCT:
      return is_gapless_struct(*c);
    default:
      return false;
  }
}

}  // namespace hocket::interpose
