#include "engine/node_communicator.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/clock.hpp"
#include "engine/call_marks.hpp"
#include "engine/function_table.hpp"
#include "executors/blocking.hpp"

namespace hocket::engine {

using executors::Binding;
using executors::Machine;
using executors::Operation;
using executors::Plan;

namespace {

constexpr std::uint64_t long_wait_ns =
    1'000'000'000;  // after which the guard asks whether a peer still lives

/// The next call may be the same one with other buffers.
bool is_repeatable(const Call& call) noexcept {
  const bool has_tables = call.input_blocks.sizes || call.output_blocks.sizes;
  const bool own_operation = ir::is_reduction(call.collective) && !call.reduction.kernel;
  return sizes_known(call.function) && !has_tables && !own_operation;
}

transports::WaitMode wait_mode(const Engine& engine) {
  const std::string& wish = engine.options().wait;
  if (wish == "spin") return transports::WaitMode::spin;
  if (wish == "yield") return transports::WaitMode::yield;
  if (wish == "sleep") return transports::WaitMode::sleep;
  return engine.oversubscribed() ? transports::WaitMode::yield : transports::WaitMode::spin;
}

transports::Waiting waiting_of(const Engine& engine, transports::Watch& watch) {
  return {wait_mode(engine), engine.host().poke, engine.host().context, &watch, nullptr};
}

}  // namespace

NodeCommunicator::NodeCommunicator(Engine& engine, const SlotKey& key, std::span<const Rank> members,
                                   Rank rank, std::byte* lines)
    : engine_(engine),
      key_(key),
      members_(members.begin(), members.end()),
      guard_(engine, members_),
      channel_(lines, static_cast<Rank>(members.size()), rank, waiting_of(engine, guard_)),
      single_copy_(engine, members_, channel_),
      size_samples_(channel_),
      rows_(engine.report()),
      small_blocks_(static_cast<Rank>(members.size())),
      sources_(members.size()),
      timed_(!engine.options().report.empty()) {
  guard_.watch(channel_);
}

NodeCommunicator::~NodeCommunicator() {
  for (const Part& part : {lines_, staging_memory_, cells_memory_})
    if (part.asked) engine_.arena()->release({key_.origin, key_.members, part.number});
}

Outcome NodeCommunicator::run(const Call& call) noexcept {
  Decision* decision = sizes_known(call.function) ? decision_for(kind_of(call, call.agreed_bytes), call)
                                                  : sampled_decision(call);
  if (!decision) return Outcome::error;
  last_ = is_repeatable(call) && !decision->provisional ? decision : nullptr;
  if (last_) decision->call = call;
  return run_decided(*decision, call);
}

Repeatable NodeCommunicator::repeatable() const noexcept {
  return last_ ? Repeatable{last_, last_->generation, last_->call.reduction} : Repeatable{};
}

Outcome NodeCommunicator::repeat(const Repeatable& repeated, const void* input, void* output,
                                 bool in_place) noexcept {
  Decision& decision = *repeated.decision;
  if (decision.generation != repeated.generation) return Outcome::forgotten;
  decision.call.input = input;
  decision.call.output = output;
  decision.call.in_place = in_place;
  decision.call.reduction =
      repeated.reduction;  // of the same operation, but maybe on another type of the same size
  return run_decided(decision, decision.call);
}

Outcome NodeCommunicator::run_decided(Decision& decision, const Call& call) noexcept {
  if (guard_.failed()) [[unlikely]]
    return Outcome::error;
  return decision.trial ? run_trial(decision, call) : run_path(decision, decision.path, call);
}

Outcome NodeCommunicator::run_path(const Decision& decision, const Path& path, const Call& call) noexcept {
  const CallKind& kind = decision.kind;
  const std::uint64_t started = timed_ ? monotonic_ns() : 0;
  mark_ = {kind.function, kind.operation, path.is_native(), kind.root, kind.bytes};
  leave_mark(channel_, channel_.instance() + 1, mark_);
  if (path.is_native()) {
    channel_.skip();
    count(path, call, started);
    return Outcome::native;
  }
  if (const Status status = execute(path, call, decision.signature); status != Status::ok) [[unlikely]] {
    report_failure(status);
    return Outcome::error;
  }
  count(path, call, started);
  return Outcome::done;
}

Outcome NodeCommunicator::run_trial(Decision& decision, const Call& call) noexcept {
  Trial& trial = *decision.trial;
  const std::size_t number = trial.next_path(channel_);
  const bool tries = trial.is_trying();
  if (trial.is_decided()) {
    decision.path = decision.tried[number];
    decision.trial = nullptr;
  }
  const std::uint64_t started = tries ? monotonic_ns() : 0;
  const Outcome outcome = run_path(decision, decision.tried[number], call);
  if (!tries) return outcome;
  if (outcome == Outcome::native) {
    native_trial_ = {&trial, number, started};
    return Outcome::native_timed;
  }
  trial.note(channel_, number, monotonic_ns() - started);
  return outcome;
}

void NodeCommunicator::native_ended() noexcept {
  native_trial_.trial->note(channel_, native_trial_.path, monotonic_ns() - native_trial_.started_ns);
}

void NodeCommunicator::report_failure(Status status) noexcept {
  try {
    const auto& disagreement = small_blocks_.disagreement();
    if (status == Status::mismatch && disagreement)
      return guard_.fail(status, disagreement->text(channel_.rank()));
    if (status != Status::failed || !exposed_ || exposed_->failure().error == 0) return guard_.fail(status);
    const transports::cma::ReadFailure& failure = exposed_->failure();
    if (failure.error == ESRCH && guard_.look(failure.peer, long_wait_ns) == Status::peer_dead)
      return guard_.fail(Status::peer_dead);
    guard_.fail(status, SingleCopy::explain(failure));
  } catch (...) {  // no memory for the explanation
    guard_.fail(status);
  }
}

void NodeCommunicator::mark_native(Function function) noexcept {
  leave_mark(channel_, channel_.instance() + 1, {function, 0, true, -1, 0});
  channel_.skip();
}

Status NodeCommunicator::execute(const Path& path, const Call& call, std::uint32_t signature) noexcept {
  if (path.flat) return path.flat({channel_, call, signature, path.published, sources_.data()});
  try {  // grows workspaces the first time
    if (path.small_blocks_first) return run_blocks(path, call, signature);
    const Operation& op = call.in_place && path.copies_input ? with_copied_input(call) : call;
    return path.plan->one_sided() ? run_one_sided(*path.plan, op, signature)
                                  : run_two_sided(*path.plan, op, signature);
  } catch (...) {
    return Status::no_memory;
  }
}

Status NodeCommunicator::run_one_sided(const Plan& plan, const Operation& op, std::uint32_t signature) {
  Binding binding(plan, op);
  const std::size_t longest = binding.longest_segment(transports::shm::staging_area_bytes);
  const std::size_t extent = binding.extent();
  const std::size_t length = plan.staging_chunks == 0 ? extent : std::min(extent, longest);
  workspace_.fit_scratch(binding.scratch_bytes(length));
  transports::OneSided* via = staging_.get();
  if (plan.single_copy) via = exposed_.get();
  std::size_t first = 0;
  do {
    if (const Status s = staging_->begin(signature); s != Status::ok) return s;
    binding.select({first, std::min(length, extent - first)}, workspace_.scratch.data());
    Machine machine(plan, binding, op, {via, nullptr}, workspace_);
    if (const Status s = executors::run_blocking(machine, channel_.waiting()); s != Status::ok) return s;
    staging_->finish();
    first += length;
    if (first < extent) leave_mark(channel_, channel_.instance() + 1, mark_);
  } while (first < extent);
  return Status::ok;
}

Status NodeCommunicator::run_two_sided(const Plan& plan, const Operation& op, std::uint32_t signature) {
  if (const Status s = channel_.begin(signature); s != Status::ok) return s;
  channel_.announce();
  const Status status = transfer(plan, op);
  channel_.finish();
  return status;
}

Status NodeCommunicator::run_blocks(const Path& path, const Call& call, std::uint32_t signature) {
  Status status = small_blocks_.deliver(channel_, call, signature);
  const Operation* left = status == Status::ok ? small_blocks_.left() : nullptr;
  if (left)
    status = transfer(*path.plan, left->in_place && path.copies_input ? with_copied_input(*left) : *left);
  channel_.finish();
  return status;
}

/// Within an instance, through cells.
Status NodeCommunicator::transfer(const Plan& plan, const Operation& op) {
  Binding binding(plan, op);
  workspace_.fit_scratch(binding.scratch_bytes(binding.extent()));
  cells_->sign(channel_.signature());
  binding.select({0, binding.extent()}, workspace_.scratch.data());
  Machine machine(plan, binding, op, {nullptr, cells_.get()}, workspace_);
  return executors::run_blocking(machine, channel_.waiting());
}

/// For rows that would overwrite what they still have to read. Blocks are copied one by one: between and
/// before them there may be anything, or nothing.
const Operation& NodeCommunicator::with_copied_input(const Operation& op) {
  const bool blocks = ir::is_blocks(op.collective);
  copied_offsets_.resize(members_.size());
  std::size_t bytes = blocks ? 0 : op.own_bytes;
  for (std::size_t r = 0; blocks && r < members_.size(); ++r) {
    copied_offsets_[r] = static_cast<std::ptrdiff_t>(bytes);
    bytes += op.input_blocks.size_of(r);
  }
  if (input_copy_.size() < bytes) input_copy_.resize(bytes);
  const auto* from = static_cast<const std::byte*>(op.input);
  if (!blocks) std::memcpy(input_copy_.data(), from, bytes);
  for (std::size_t r = 0; blocks && r < members_.size(); ++r)
    std::memcpy(input_copy_.data() + copied_offsets_[r], from + op.input_blocks.offset_of(r),
                op.input_blocks.size_of(r));
  copied_ = op;
  copied_.input = input_copy_.data();
  if (blocks) copied_.input_blocks.offsets = copied_offsets_.data();
  copied_.in_place = false;
  return copied_;
}

void NodeCommunicator::count(const Path& path, const Call& call, std::uint64_t started_ns) noexcept {
  path.row->count(call.agreed_bytes);
  if (timed_) path.row->count_time(static_cast<double>(monotonic_ns() - started_ns) * 1e-9);
}

}  // namespace hocket::engine
