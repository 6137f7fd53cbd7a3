#include "engine/call_kind.hpp"

#include <algorithm>

#include "engine/function_table.hpp"

namespace hocket::engine {

namespace {

std::size_t largest_block(const Call& call, Rank ranks) noexcept {
  if (!sizes_known(call.function)) return 0;
  const std::size_t* sizes = call.function == Function::allgatherv       ? call.output_blocks.sizes
                             : call.function == Function::reduce_scatter ? call.input_blocks.sizes
                                                                         : nullptr;
  return sizes ? *std::max_element(sizes, sizes + ranks) : call.agreed_bytes;
}

}  // namespace

CallKind kind_of(const Call& call, std::size_t bytes, Rank ranks) noexcept {
  CallKind kind;
  kind.function = call.function;
  kind.root = ir::is_rooted(call.collective) ? call.root : -1;
  kind.bytes = bytes;
  kind.largest_block = largest_block(call, ranks);
  if (ir::is_reduction(call.collective)) {
    kind.operation = call.reduction.operation;
    kind.element_type = call.reduction.element_type;
    kind.commutative = call.reduction.commutative;
    kind.element_bytes = call.reduction.element_bytes;
  }
  return kind;
}

bool is_repeatable(const Call& call) noexcept {
  const bool has_tables = call.input_blocks.sizes || call.output_blocks.sizes;
  const bool own_operation = ir::is_reduction(call.collective) && !call.reduction.kernel;
  return sizes_known(call.function) && !has_tables && !own_operation;
}

ir::Request request_of(const CallKind& kind, ir::Collective collective, Rank ranks, Rank rank) noexcept {
  ir::Request request;
  request.collective = collective;
  request.ranks = ranks;
  request.rank = rank;
  request.root = std::max(kind.root, 0);
  request.commutative = kind.commutative;
  return request;
}

}  // namespace hocket::engine
