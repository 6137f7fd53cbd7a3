// One instruction set's kernels: a name and a function per (operation, type). Each isa_*.cpp defines one.
#pragma once

#include "kernels/kernels.hpp"

namespace hocket::kernels {

struct Table {
  const char* isa;
  ReduceFn functions[op_kind_count][element_type_count];
};

// Those that are compiled in: CMakeLists.txt has the list.
extern const Table table_sse2;
extern const Table table_avx2;
extern const Table table_avx512;
extern const Table table_neon;
extern const Table table_plain;

}  // namespace hocket::kernels
