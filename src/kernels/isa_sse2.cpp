// Kernels for: x86-64 as it always was.
// CMakeLists.txt gives this file its target flags.
#define HOCKET_KERNELS_ISA isa_sse2
#include "kernels/reduce/build_table.hpp"

namespace hocket::kernels {

constinit const Table table_sse2 = isa_sse2::TableBuilder("sse2").build();

}  // namespace hocket::kernels
