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

using algorithms::Access;
using algorithms::Algorithm;
using executors::Binding;
using executors::Machine;
using executors::Plan;
using executors::Segment;
using transports::shm::Channel;

namespace {

constexpr std::uint64_t long_wait_ns =
    1'000'000'000;  // after which the guard asks whether a peer still lives

enum PartNumber : std::uint32_t { lines_part = 0, staging_part = 1, cells_part = 2 };

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

/// Smaller calls end before a trial's clock has been read.
constexpr std::size_t least_tried_bytes = 16 * 1024;
constexpr std::string_view won_reason = "a trial of the data paths, in the program's own calls";

/// 32 bits that are never 0, equal where MPI obliges the calls to be equal.
std::uint32_t signature_of(const CallKind& kind) {
  CallKind agreed = kind;
  agreed.element_bytes = 1;
  const auto hash = static_cast<std::uint32_t>(agreed.hash());
  return hash | 1U;
}

/// Rows that have a compiled form for small messages.
bool is_flat(const Algorithm& algorithm) {
  return algorithm.name == "flat" || algorithm.name == "direct";
}

std::size_t largest_block(const Call& call, Rank ranks) {
  if (!sizes_known(call.function)) return 0;
  const std::size_t* sizes = call.function == Function::allgatherv       ? call.output_blocks.sizes
                             : call.function == Function::reduce_scatter ? call.input_blocks.sizes
                                                                         : nullptr;
  return sizes ? *std::max_element(sizes, sizes + ranks) : call.agreed_bytes;
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
      sources_(members.size()),
      timed_(!engine.options().report.empty()) {
  guard_.watch(channel_);
}

NodeCommunicator::~NodeCommunicator() {
  for (const PartNumber number : {lines_part, staging_part, cells_part}) {
    const bool carved =
        number == lines_part || (number == staging_part ? staging_memory_ : cells_memory_).asked;
    if (carved) engine_.arena()->release({key_.origin, key_.members, number});
  }
}

Outcome NodeCommunicator::run(const Call& call) noexcept {
  const CallKind kind = kind_of(call);
  Decision* decision = decisions_.find(kind);
  if (!decision || !is_current(*decision, kind)) decision = decide_anew(kind, call);
  if (!decision) return Outcome::error;
  last_ = decision;
  decision->call = call;
  return run_decided(*decision, call);
}

Repeatable NodeCommunicator::repeatable() const noexcept {
  const bool has_tables = last_->call.input_blocks.sizes || last_->call.output_blocks.sizes;
  const bool own_operation = ir::is_reduction(last_->call.collective) && !last_->call.reduction.kernel;
  if (has_tables || own_operation || !sizes_known(last_->kind.function) || last_->provisional) return {};
  return {last_, last_->generation, last_->call.reduction};
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

Decision* NodeCommunicator::decide_anew(const CallKind& kind, const Call& call) noexcept {
  try {
    Decision& decision = decisions_.make(kind);
    const std::uint32_t generation = decision.generation + 1;
    decision = Decision{};
    decision.kind = kind;
    decision.generation = generation;
    decide(decision, call);
    return &decision;
  } catch (...) {  // no memory for a plan on this rank alone: the others cannot know
    guard_.fail(Status::no_memory);
    return nullptr;
  }
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
    give_up(status);
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
  const std::uint64_t started = monotonic_ns();
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

bool NodeCommunicator::is_current(const Decision& decision, const CallKind& kind) const noexcept {
  if (!decision.known || decision.kind != kind) return false;
  return !decision.provisional || !single_copy_.may_change(channel_.instance() + 1);
}

void NodeCommunicator::give_up(Status status) noexcept {
  try {
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

CallKind NodeCommunicator::kind_of(const Call& call) noexcept {
  CallKind kind;
  kind.function = call.function;
  kind.root = ir::is_rooted(call.collective) ? call.root : -1;
  kind.bytes = sizes_known(call.function) ? call.agreed_bytes : size_samples_.agreed_before(call);
  kind.largest_block = largest_block(call, channel_.ranks());
  if (ir::is_reduction(call.collective)) {
    kind.operation = call.reduction.operation;
    kind.commutative = call.reduction.commutative;
    kind.element_bytes = call.reduction.element_bytes;
  }
  return kind;
}

tuning::Situation NodeCommunicator::situation_of(const Decision& decision, const Call& call) {
  const CallKind& kind = decision.kind;
  tuning::Situation situation;
  situation.collective = call.collective;
  situation.ranks = channel_.ranks();
  situation.bytes = kind.bytes;
  situation.sizes_known = sizes_known(call.function);
  situation.equal_blocks = equal_blocks(call.function);
  situation.commutative = kind.commutative;
  situation.predefined = kind.operation != 0;
  situation.oversubscribed = engine_.oversubscribed();
  return situation;
}

void NodeCommunicator::decide(Decision& decision, const Call& call) {
  tuning::Situation situation = situation_of(decision, call);
  const bool concerned = single_copy_.concerns(situation);
  situation.single_copy = concerned && single_copy_.holds(situation.collective);
  decision.provisional = concerned && !single_copy_.settled();

  const tuning::Choice choice = engine_.rules().choose(situation);
  decision.known = true;
  decision.signature = engine_.options().check ? signature_of(decision.kind) : 1;
  decision.path = path_for(decision.kind, call, choice);
  if (!decision.provisional) begin_trial(decision, call, situation, choice);
}

Path NodeCommunicator::path_for(const CallKind& kind, const Call& call, const tuning::Choice& choice) {
  if (!choice.algorithm) return native(kind, choice.reason);
  const std::size_t published =
      compiled::published_bytes(call.collective, channel_.ranks(), kind.bytes, kind.largest_block);
  Path path;
  if (is_flat(*choice.algorithm) && sizes_known(call.function) &&
      published <= transports::shm::payload_bytes) {
    path.flat = compiled::find_flat(call.collective);
    path.published = published;
  } else {
    path = planned(kind, call, choice);
    if (path.is_native()) return path;
  }
  path.row = engine_.report().row(call.function, kind.bytes, choice.algorithm->name, choice.reason);
  return path;
}

Path NodeCommunicator::native(const CallKind& kind, std::string_view reason) {
  Path path;
  path.row = engine_.report().row(kind.function, kind.bytes, "native", reason);
  return path;
}

Path NodeCommunicator::planned(const CallKind& kind, const Call& call, const tuning::Choice& choice) {
  const Algorithm& algorithm = *choice.algorithm;
  if (!has_memory_for(algorithm)) return native(kind, "the arena's budget is spent");
  ir::Request request;
  request.collective = call.collective;
  request.ranks = channel_.ranks();
  request.rank = channel_.rank();
  request.root = std::max(kind.root, 0);
  request.commutative = kind.commutative;
  request.parameters = choice.parameters;
  const Plan& plan = plans_.get(algorithm, request);
  if (algorithm.access == Access::one_sided && plan.staging_chunks > 0 &&
      Binding(plan, call).longest_segment(transports::shm::staging_area_bytes) == 0)
    return native(kind, "one element is larger than the staging buffer");
  if (algorithm.single_copy && !exposed_) exposed_.emplace(*staging_, channel_, single_copy_.processes());
  workspace_.fit(plan);
  Path path;
  path.plan = &plan;
  path.copies_input = !algorithm.in_place || call.collective == ir::Collective::reduce_scatter;
  return path;
}

/// Large calls that move data: what the rules chose, single copy if they did not choose it though it is
/// possible, and the MPI's own call unless ranks share cores (there it waits by spinning).
void NodeCommunicator::begin_trial(Decision& decision, const Call& call, const tuning::Situation& situation,
                                   const tuning::Choice& ruled) {
  const bool moves_data = !ir::is_reduction(call.collective) && call.collective != ir::Collective::barrier;
  if (!engine_.options().trials || !moves_data || decision.path.is_native() || !ruled.built_in ||
      situation.bytes < (situation.sizes_known ? least_tried_bytes : 1))
    return;
  std::size_t paths = 0;
  decision.tried[paths++] = decision.path;
  const Algorithm* exposed = single_copy_.is_promising() && situation.equal_blocks
                                 ? algorithms::find(call.collective, "exposed")
                                 : nullptr;
  if (exposed && exposed != ruled.algorithm)
    decision.tried[paths++] =
        path_for(decision.kind, call, {exposed, algorithms::presets(*exposed), true, won_reason});
  if (!situation.oversubscribed) decision.tried[paths++] = native(decision.kind, won_reason);
  if (paths > 1) decision.trial = &trials_.of(call.function, decision.kind.bytes, paths);
}

bool NodeCommunicator::has_memory_for(const Algorithm& algorithm) {
  const Rank ranks = channel_.ranks();
  if (algorithm.access == Access::two_sided) {
    std::byte* memory = part(cells_memory_, cells_part, transports::shm::cells_bytes(ranks));
    if (memory && !cells_) cells_.emplace(memory, ranks, channel_.rank(), channel_.waiting());
    return memory != nullptr;
  }
  if (!staging_) staging_.emplace(channel_);
  if (!algorithm.staging) return true;
  std::byte* memory = part(staging_memory_, staging_part, transports::shm::staging_bytes(ranks));
  staging_->use(memory);
  return memory != nullptr;
}

std::byte* NodeCommunicator::part(Part& part, std::uint32_t number, std::size_t bytes) {
  if (!part.asked) {
    part.asked = true;
    const SlotKey key{key_.origin, key_.members, number};
    part.memory = engine_.arena()->carve(key, bytes, static_cast<int>(members_.size())).memory;
  }
  return part.memory;
}

Status NodeCommunicator::execute(const Path& path, const Call& call, std::uint32_t signature) noexcept {
  if (path.flat) return path.flat({channel_, call, signature, path.published, sources_.data()});
  try {  // grows workspaces the first time
    const Plan& plan = *path.plan;
    if (call.in_place && path.copies_input) return run_plan(plan, with_copied_input(call), signature);
    return run_plan(plan, call, signature);
  } catch (...) {
    return Status::no_memory;
  }
}

Status NodeCommunicator::run_plan(const Plan& plan, const Call& call, std::uint32_t signature) {
  return plan.one_sided() ? run_one_sided(plan, call, signature) : run_two_sided(plan, call, signature);
}

Status NodeCommunicator::run_one_sided(const Plan& plan, const Call& call, std::uint32_t signature) {
  Binding binding(plan, call);
  const std::size_t longest = binding.longest_segment(transports::shm::staging_area_bytes);
  const std::size_t extent = binding.extent();
  const std::size_t length = plan.staging_chunks == 0 ? extent : std::min(extent, longest);
  workspace_.fit_scratch(binding.scratch_bytes(length));
  transports::OneSided* via = &*staging_;
  if (plan.single_copy) via = &*exposed_;
  std::size_t first = 0;
  do {
    if (const Status s = staging_->begin(signature); s != Status::ok) return s;
    binding.select({first, std::min(length, extent - first)}, workspace_.scratch.data());
    Machine machine(plan, binding, call, {via, nullptr}, workspace_);
    if (const Status s = executors::run_blocking(machine, channel_.waiting()); s != Status::ok) return s;
    staging_->finish();
    first += length;
    if (first < extent) leave_mark(channel_, channel_.instance() + 1, mark_);
  } while (first < extent);
  return Status::ok;
}

Status NodeCommunicator::run_two_sided(const Plan& plan, const Call& call, std::uint32_t signature) {
  Binding binding(plan, call);
  workspace_.fit_scratch(binding.scratch_bytes(binding.extent()));
  if (const Status s = channel_.begin(signature); s != Status::ok) return s;
  channel_.announce();
  cells_->sign(channel_.signature());
  binding.select({0, binding.extent()}, workspace_.scratch.data());
  Machine machine(plan, binding, call, {nullptr, &*cells_}, workspace_);
  const Status status = executors::run_blocking(machine, channel_.waiting());
  channel_.finish();
  return status;
}

/// For rows that would overwrite what they still have to read. Blocks are copied one by one: between and
/// before them there may be anything, or nothing.
Call NodeCommunicator::with_copied_input(const Call& call) {
  Call copy = call;
  const bool blocks = ir::is_blocks(call.collective);
  copied_offsets_.resize(members_.size());
  std::size_t bytes = blocks ? 0 : call.own_bytes;
  for (std::size_t r = 0; blocks && r < members_.size(); ++r) {
    copied_offsets_[r] = static_cast<std::ptrdiff_t>(bytes);
    bytes += call.input_blocks.size_of(r);
  }
  if (input_copy_.size() < bytes) input_copy_.resize(bytes);
  const auto* from = static_cast<const std::byte*>(call.input);
  if (!blocks) std::memcpy(input_copy_.data(), from, bytes);
  for (std::size_t r = 0; blocks && r < members_.size(); ++r)
    std::memcpy(input_copy_.data() + copied_offsets_[r], from + call.input_blocks.offset_of(r),
                call.input_blocks.size_of(r));
  copy.input = input_copy_.data();
  if (blocks) copy.input_blocks.offsets = copied_offsets_.data();
  copy.in_place = false;
  return copy;
}

void NodeCommunicator::count(const Path& path, const Call& call, std::uint64_t started_ns) noexcept {
  ReportRow& row = *path.row;
  ++row.calls;
  row.bytes += call.agreed_bytes;
  if (timed_) row.seconds += static_cast<double>(monotonic_ns() - started_ns) * 1e-9;
}

}  // namespace hocket::engine
