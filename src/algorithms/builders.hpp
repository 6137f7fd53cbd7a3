// Declares the builder of every row of the catalog: allreduce, ring is build_allreduce_ring in
// allreduce/ring.cpp.
#pragma once

#include "ir/builder.hpp"
#include "ir/request.hpp"

namespace hocket::algorithms {

using ir::Builder;
using ir::Rank;
using ir::Region;
using ir::Request;

#define ALGORITHM(collective, name, ...) void build_##collective##_##name(const Request& r, Builder& b);
#include "algorithms/catalog.def"
#undef ALGORITHM

}  // namespace hocket::algorithms
