// Kernels for: x86-64 with AVX2 and F16C.
// CMakeLists.txt gives this file its target flags.
#define HOCKET_KERNELS_ISA isa_avx2
#include "kernels/reduce/build_table.hpp"

namespace hocket::kernels {

constinit const Table table_avx2 = isa_avx2::TableBuilder("avx2").build();

}  // namespace hocket::kernels
