// What a collective operation owes to each rank, compared with what symbolic execution left there.
#pragma once

#include "ir/symbolic_memory.hpp"
#include "ir/verify.hpp"

namespace hocket::ir {

/// Throws hocket::Error that names rank and chunk.
void check_outcome(const Program& program, const SymbolicMemory& memory, const Expressions& expressions,
                   const Expectation& expectation);

}  // namespace hocket::ir
