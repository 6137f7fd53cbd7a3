// Whether a derived type is a plain run of bytes. Sizes and extents alone cannot tell: indexed({1,1}, {1,0})
// has no gap but another order. So its construction is read, once per type; whatever is not recognised is
// packed.
#include <vector>

#include "interpose/plugin/handles/types.hpp"
#include "interpose/plugin/host.hpp"

namespace hocket::interpose {
namespace {

struct Construction {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> parts;
  ~Construction();
};

bool is_named(MPI_Datatype handle) {
  int integers, addresses, datatypes, combiner = MPI_COMBINER_NAMED;
  host().Type_get_envelope(handle, &integers, &addresses, &datatypes, &combiner);
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_COMPLEX;
}

// Get_contents gives handles to derived parts that are ours to free.
Construction::~Construction() {
  for (MPI_Datatype part : parts)
    if (!is_named(part)) host().Type_free(&part);
}

bool read_construction(MPI_Datatype handle, Construction& c) {
  int integers = 0, addresses = 0, datatypes = 0;
  if (host().Type_get_envelope(handle, &integers, &addresses, &datatypes, &c.combiner) != MPI_SUCCESS)
    return false;
  if (c.combiner == MPI_COMBINER_NAMED || datatypes == 0) return true;
  std::vector<MPI_Datatype> parts(static_cast<std::size_t>(datatypes));
  c.integers.resize(static_cast<std::size_t>(integers));
  c.addresses.resize(static_cast<std::size_t>(addresses));
  if (host().Type_get_contents(handle, integers, addresses, datatypes, c.integers.data(), c.addresses.data(),
                               parts.data()) != MPI_SUCCESS)
    return false;
  c.parts = std::move(parts);
  return true;
}

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
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    MPI_Count size = 0;
    const int length = c.integers[i + 1];
    if (length == 0) continue;
    if (c.addresses[i] != end || !is_gapless_part(c.parts[i], &size)) return false;
    end += length * size;
  }
  return true;
}

bool is_gapless_vector(const Construction& c) {
  MPI_Count size = 0;
  if (!is_gapless_part(c.parts[0], &size)) return false;
  const int count = c.integers[0], block = c.integers[1];
  if (count == 1) return true;
  return c.combiner == MPI_COMBINER_VECTOR ? c.integers[2] == block : c.addresses[0] == block * size;
}

}  // namespace

bool is_gapless(MPI_Datatype handle, std::size_t size, std::ptrdiff_t lb, std::ptrdiff_t extent) {
  if (lb != 0 || extent < 0 || static_cast<std::size_t>(extent) != size) return false;
  Construction c;
  if (!read_construction(handle, c)) return false;
  MPI_Count part_size = 0;
  switch (c.combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_INTEGER:
    case MPI_COMBINER_F90_COMPLEX:
      return true;
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_RESIZED:
      return is_gapless_part(c.parts[0], &part_size);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
      return is_gapless_vector(c);
    case MPI_COMBINER_STRUCT:
      return is_gapless_struct(c);
    default:
      return false;
  }
}

}  // namespace hocket::interpose
