// Kernels for: x86-64 with AVX-512 F, BW, DQ and VL, and F16C.
// CMakeLists.txt gives this file its target flags.
#define HOCKET_KERNELS_ISA isa_avx512
#include "kernels/reduce/build_table.hpp"

namespace hocket::kernels {

constinit const Table table_avx512 = isa_avx512::TableBuilder("avx512").build();

}  // namespace hocket::kernels
