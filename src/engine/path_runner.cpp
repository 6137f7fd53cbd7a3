#include "engine/path_runner.hpp"

#include <algorithm>

#include "executors/blocking.hpp"

namespace hocket::engine {

using algorithms::Access;
using algorithms::Algorithm;
using executors::Binding;
using executors::Machine;
using executors::Operation;
using executors::Plan;

namespace {
// Part 0 of the slot has the flag lines.
constexpr std::uint32_t staging_part = 1, cells_part = 2;
}  // namespace

PathRunner::PathRunner(Arena& arena, const SlotKey& key, transports::shm::Channel& channel,
                       const SingleCopy& single_copy)
    : channel_(channel),
      staging_memory_(arena, {key.origin, key.members, staging_part}),
      cells_memory_(arena, {key.origin, key.members, cells_part}),
      least_loan_(single_copy.least_loan()),
      peers_(single_copy.peers()),
      staging_(channel),
      exposed_(staging_, peers_),
      small_blocks_(channel.ranks()),
      sources_(static_cast<std::size_t>(channel.ranks())) {}

bool PathRunner::has_memory_for(const Algorithm& algorithm) {
  const Rank ranks = channel_.ranks();
  if (algorithm.access == Access::two_sided) {
    std::byte* memory = cells_memory_.carve(transports::shm::cells_bytes(ranks), ranks, Content::zeros);
    if (memory && !cells_)
      cells_ = std::make_unique<transports::shm::Cells>(memory, ranks, channel_.rank(), channel_.waiting(),
                                                        least_loan_ ? &peers_ : nullptr);
    return memory != nullptr;
  }
  if (!algorithm.staging) return true;
  std::byte* memory = staging_memory_.carve(transports::shm::staging_bytes(ranks), ranks, Content::anything);
  staging_.use(memory);
  return memory != nullptr;
}

std::optional<transports::cma::ReadFailure> PathRunner::read_failure() const noexcept {
  if (peers_.failure().error == 0) return std::nullopt;
  return peers_.failure();
}

Status PathRunner::interpret(const Path& path, const Call& call, std::uint32_t signature,
                             const CallMark& mark) noexcept {
  try {  // grows workspaces the first time
    if (path.small_blocks_first) return run_blocks(path, call, signature);
    const Operation& op = call.in_place && path.copies_input ? input_copy_.of(call, channel_.ranks()) : call;
    return path.plan->one_sided() ? run_one_sided(*path.plan, op, signature, mark)
                                  : run_two_sided(path, op, signature);
  } catch (...) {
    return Status::no_memory;
  }
}

Status PathRunner::run_one_sided(const Plan& plan, const Operation& op, std::uint32_t signature,
                                 const CallMark& mark) {
  Binding binding(plan, op);
  const std::size_t longest = binding.longest_segment(transports::shm::staging_area_bytes);
  const std::size_t extent = binding.extent();
  const std::size_t length = plan.staging_chunks == 0 ? extent : std::min(extent, longest);
  workspace_.fit_scratch(binding.scratch_bytes(length));
  transports::OneSided* via = &staging_;
  if (plan.single_copy) via = &exposed_;
  std::size_t first = 0;
  do {
    if (const Status s = staging_.begin(signature); s != Status::ok) return s;
    binding.select({first, std::min(length, extent - first)}, workspace_.scratch());
    Machine machine(plan, binding, op, {via, nullptr}, workspace_);
    if (const Status s = executors::run_blocking(machine, channel_.waiting()); s != Status::ok) return s;
    staging_.finish();
    first += length;
    if (first < extent) leave_mark(channel_, channel_.instance() + 1, mark);
  } while (first < extent);
  return Status::ok;
}

Status PathRunner::run_two_sided(const Path& path, const Operation& op, std::uint32_t signature) {
  if (const Status s = channel_.begin(signature); s != Status::ok) return s;
  channel_.announce();
  const Status status = transfer(path, op);
  channel_.finish();
  return status;
}

Status PathRunner::run_blocks(const Path& path, const Call& call, std::uint32_t signature) {
  Status status = small_blocks_.deliver(channel_, call, signature);
  const Operation* left = status == Status::ok ? small_blocks_.left() : nullptr;
  if (left)
    status =
        transfer(path, left->in_place && path.copies_input ? input_copy_.of(*left, channel_.ranks()) : *left);
  channel_.finish();
  return status;
}

/// Within an instance, through cells.
Status PathRunner::transfer(const Path& path, const Operation& op) {
  const Plan& plan = *path.plan;
  Binding binding(plan, op);
  workspace_.fit_scratch(binding.scratch_bytes(binding.extent()));
  cells_->sign(channel_.signature());
  cells_->lend_from(path.lends ? least_loan_.value_or(transports::shm::Cells::never)
                               : transports::shm::Cells::never);
  binding.select({0, binding.extent()}, workspace_.scratch());
  Machine machine(plan, binding, op, {nullptr, cells_.get()}, workspace_);
  return executors::run_blocking(machine, channel_.waiting());
}

}  // namespace hocket::engine
