// Which predefined MPI types operations compute with, by kind; the width is asked from the MPI, since
// Fortran's types differ between builds.
#pragma once

#include <optional>

#include "interpose/plugin/mpi_abi.hpp"
#include "kernels/kernels.hpp"

namespace hocket::interpose {

enum class ElementKind : std::uint8_t {
  signed_integer,
  unsigned_integer,
  floating,  ///< IEEE, up to 8 bytes
  bfloat,
  long_double,
  complex,  ///< of two floating
  complex_long_double,
  boolean,
  logical,
  bytes,
  pair_float_int,
  pair_double_int,
  pair_long_int,
  pair_int_int,
  pair_short_int,
  pair_long_double_int,
  pair_real,
  pair_double,
};

void open_element_kinds();
/// Nothing for types that are not predefined or not for arithmetic (characters, MPI_PACKED, ...).
std::optional<ElementKind> kind_of(MPI_Datatype handle);
kernels::ElementType element_of(ElementKind kind, std::size_t size);

}  // namespace hocket::interpose
