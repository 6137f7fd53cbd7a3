// Kernels for: Any other processor: what the compiler makes of 16-byte vectors.
// CMakeLists.txt gives this file its target flags.
#define HOCKET_KERNELS_ISA isa_plain
#include "kernels/reduce/build_table.hpp"

namespace hocket::kernels {

constinit const Table table_plain = isa_plain::TableBuilder("plain").build();

}  // namespace hocket::kernels
