// Kernels for: aarch64: NEON is part of it.
// CMakeLists.txt gives this file its target flags.
#define HOCKET_KERNELS_ISA isa_neon
#include "kernels/reduce/build_table.hpp"

namespace hocket::kernels {

constinit const Table table_neon = isa_neon::TableBuilder("neon").build();

}  // namespace hocket::kernels
