// Elementwise reductions for every predefined MPI (type, operation) pair.
//
// This is what a schedule's `reduce` op runs: combine k source buffers into one, in one pass over memory,
// always with the left operand first, so that the result depends on the order of the sources and on nothing
// else. One generic source (reduce/) is compiled once per instruction set; the table to use is chosen at run
// time. docs/design/0003-kernels.md says why.
//
// Semantics, the same in every instruction set:
//  - integers wrap, small ones included;
//  - max/min take the right operand only if it is strictly greater/less: ties, signed zeros and NaN keep the
//    left operand;
//  - maxloc/minloc take the right pair, whole, if its value is strictly better, or equal with a lower index;
//  - f16/bf16 are computed in f32 and rounded to nearest even after every step; f16 NaNs come out quiet;
//  - results are equal bit for bit, except that the sign and payload of a NaN made by sum or prod are the
//    processor's affair;
//  - gaps (C padding, the unused bytes of an x87 long double) are zero in results of k >= 2;
//  - no lane is computed that is not an element, so programs that trap on floating-point exceptions see only
//    exceptions of their own data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hocket::kernels {

enum class ElementType : std::uint8_t {
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64,
  f80,           // long double, whatever its format is here
  c32,           // two f32
  c64,           // two f64
  c80,           // two long double
  bool8,         // C and C++ bool
  logical32,     // Fortran LOGICAL of 4 bytes: nonzero is true, results are 1 and 0
  byte,          // MPI_BYTE: bitwise operations only
  pair_f32_i32,  // MPI_FLOAT_INT
  pair_f64_i32,  // MPI_DOUBLE_INT
  pair_i64_i32,  // MPI_LONG_INT
  pair_i32_i32,  // MPI_2INT, MPI_2INTEGER
  pair_i16_i32,  // MPI_SHORT_INT
  pair_f80_i32,  // MPI_LONG_DOUBLE_INT
  pair_f32_f32,  // MPI_2REAL
  pair_f64_f64,  // MPI_2DOUBLE_PRECISION
  none,
};

enum class OpKind : std::uint8_t {
  sum,
  prod,
  max,
  min,
  land,
  lor,
  lxor,
  band,
  bor,
  bxor,
  maxloc,
  minloc,
  none
};

inline constexpr std::size_t element_type_count = static_cast<std::size_t>(ElementType::none);
inline constexpr std::size_t op_kind_count = static_cast<std::size_t>(OpKind::none);

// Bytes in memory, padding included; 0 for none.
std::size_t element_size(ElementType type) noexcept;

std::string_view name(ElementType type) noexcept;
std::string_view name(OpKind op) noexcept;

// Whether MPI 4.1 section 6.9.2 and 6.9.4 allow the operation on the type.
bool supported(OpKind op, ElementType type) noexcept;

// dst[i] = (((src[0][i] op src[1][i]) op src[2][i]) ... op src[k-1][i]) for i < n, k >= 1 (k == 1 copies).
// dst is exactly one or more of src[] or overlaps none of them. Any alignment.
using ReduceFn = void (*)(void* dst, const void* const* src, int k, std::size_t n) noexcept;

// The kernel in the selected instruction set; nullptr if the pair is not supported.
ReduceFn find(OpKind op, ElementType type) noexcept;

// Chooses the instruction set by name; "" and "auto" mean the best one. Throws hocket::Error if this machine
// or this build does not have it. Without a call, the best one is in use.
void select(std::string_view isa);
std::string_view selected_isa() noexcept;

// What this machine and this build have, the best one last.
std::vector<std::string_view> available_isas();

}  // namespace hocket::kernels
