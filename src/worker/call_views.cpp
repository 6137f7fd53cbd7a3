#include "worker/call_views.hpp"

#include "base/error.hpp"

namespace hocket::worker {

using engine::handover::Define;
using executors::Blocks;
using executors::Operation;
using ir::Collective;

namespace {

bool has_input_blocks(Collective c) {
  return c == Collective::scatter || c == Collective::alltoall || c == Collective::reduce_scatter;
}
bool has_output_blocks(Collective c) {
  return c == Collective::gather || c == Collective::allgather || c == Collective::alltoall;
}

void check(const Define::Table& table, std::size_t ranks) {
  const auto fits = [ranks](std::size_t size) { return size == 0 || size == ranks; };
  if (!fits(table.sizes.size()) || !fits(table.offsets.size()))
    throw Error("a call's blocks are not as many as its ranks");
}

/// A regular call's blocks have no table, and may say their size in one place alone.
Blocks blocks_of(const Blocks& blocks, const Operation& op) {
  Blocks all = blocks;
  if (!all.sizes && all.size == 0) all.size = op.agreed_bytes;
  return all;
}

/// Of a buffer that is missing: blocks that begin at nothing, whatever the rank says of their places.
View nothing(bool has_blocks, std::size_t ranks) {
  return has_blocks ? View(nullptr, Blocks{}, ranks) : View();
}

View input_of(const Operation& op, std::size_t ranks) {
  if (!op.input) return nothing(has_input_blocks(op.collective), ranks);
  if (has_input_blocks(op.collective)) return {op.input, blocks_of(op.input_blocks, op), ranks};
  return {op.input, op.own_bytes};
}

View output_of(const Operation& op, std::size_t ranks) {
  if (!op.output) return nothing(has_output_blocks(op.collective), ranks);
  if (has_output_blocks(op.collective)) return {op.output, blocks_of(op.output_blocks, op), ranks};
  return {op.output, op.own_bytes};
}

/// Where the mirror is one of the input, though the call is in place: a scatter's root has its block in it.
bool stays_in_input(const Operation& op) {
  return op.in_place && op.collective == Collective::scatter;
}

/// Only calls with blocks to all, and vectors, have an input that may have to be another one than the output.
bool is_in_one_place(const Define& define, const Operation& op) {
  const bool own_block_alone = op.collective == Collective::gather || op.collective == Collective::allgather;
  return op.in_place && !stays_in_input(op) && (own_block_alone || !define.copies_input);
}

/// The output is where the input is, and the schedule must not find it changed.
bool is_copied(const Operation& op, bool is_one) {
  return op.in_place && !is_one && !stays_in_input(op);
}

void point_to(Blocks& blocks, const View& view) {
  if (!view.offsets().empty()) blocks.offsets = view.offsets().data();
}

}  // namespace

CallViews views_of(const Define& define, ir::Rank rank, std::size_t ranks, const RankProcess& process) {
  check(define.input_table, ranks);
  check(define.output_table, ranks);
  const Operation op = engine::handover::described(define);
  if (op.root < 0 || static_cast<std::size_t>(op.root) >= ranks) throw Error("a call without a root");
  CallViews views;
  const bool is_one = is_in_one_place(define, op);
  views.is_one = is_one;
  if (!is_one) views.input = input_of(op, ranks);
  if (!stays_in_input(op)) views.output = output_of(op, ranks);
  views.reads_output = is_one && (op.collective != Collective::bcast || op.root == rank);
  views.writes_output = op.collective != Collective::bcast || op.root != rank;
  if (!is_copied(op, is_one) && views.input.is_apart_from(views.output)) views.input.map(process);
  views.output.map(process);
  return views;
}

executors::Operation viewed(const Define& define, const CallViews& views, std::byte* input,
                            std::byte* output) {
  Operation op = engine::handover::described(define);
  const bool stays = stays_in_input(op);
  op.in_place = views.is_one || stays;
  op.input = views.is_one ? views.output.data(output) : views.input.data(input);
  op.output = stays ? views.input.data(input) : views.output.data(output);
  if (has_input_blocks(op.collective)) point_to(op.input_blocks, views.is_one ? views.output : views.input);
  if (has_output_blocks(op.collective)) point_to(op.output_blocks, views.output);
  return op;
}

}  // namespace hocket::worker
