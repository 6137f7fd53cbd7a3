#include "engine/spread_communicator.hpp"

#include "base/clock.hpp"
#include "engine/aggregation/service.hpp"
#include "engine/call_kind.hpp"
#include "engine/function_table.hpp"
#include "engine/handover/handed_starts.hpp"
#include "engine/spread_employer.hpp"
#include "engine/wait_mode.hpp"

namespace hocket::engine {

SpreadCommunicator::SpreadCommunicator(Engine& engine, const SlotKey& key, std::span<const Rank> members,
                                       Rank rank)
    : engine_(engine),
      key_(key),
      members_(members.begin(), members.end()),
      rank_(rank),
      guard_(engine, {key.origin, key.members}, members_, rank),
      ground_{*engine.network(), guard_, wait_mode(engine), engine.host(), members_, engine.in_network()},
      rows_(engine.report()),
      leaders_(leaders_of(ground_, guard_.id(), aggregation::LeaderGroups::Kind::blocking, rank)),
      operation_(ground_, guard_.id(), leaders_ ? &*leaders_ : nullptr),
      timed_(!engine.options().report.empty()),
      prepared_(engine.report()),
      starts_(ground_, rank, 0) {}

Outcome SpreadCommunicator::carry_out(const Call& call) noexcept {
  return follow(decision_->path, call);
}

std::uint32_t SpreadCommunicator::signature_of_call(const CallKind& kind) const noexcept {
  return engine_.options().check ? signature_of(kind) : 1;
}

/// This rank alone: the others cannot know, unless they are told.
void SpreadCommunicator::fail_without_memory(const SpreadGuard::Turn& turn) noexcept {
  guard_.fail(turn, Status::no_memory, std::nullopt);
}

/// All that the ranks know of a call without agreed sizes is its function and its root: there is no memory in
/// which they see each other's calls.
Decision* SpreadCommunicator::decision_about(const Call& call) noexcept {
  const CallKind kind = kind_of(call, call.agreed_bytes, ranks());
  Decision* known = decisions_.find(kind);
  if (known && known->known && known->kind == kind) return known;
  try {
    Decision& decision = decisions_.make(kind);
    const std::uint32_t generation = decision.generation + 1;
    if (decision.known && !decision.path.is_native()) engine_.report().count_plan_given_up();
    decision = Decision{};
    decision.kind = kind;
    decision.generation = generation;
    decision.path = path_for(kind, call, true);
    decision.signature = signature_of_call(kind);
    decision.known = true;
    if (!decision.path.is_native()) engine_.report().count_plan_made();
    return &decision;
  } catch (...) {
    fail_without_memory({blocking_.number + 1, {}});
    return nullptr;
  }
}

void SpreadCommunicator::look_around() {
  if (model_) return;
  if (!tables_) tables_ = engine_.tables_of({key_, members_, members_[static_cast<std::size_t>(rank_)]});
  if (engine_.places()) near_ = engine_.places()->of(members_, tables_);
  model_.emplace(engine_.costs(), near_ ? &*near_ : nullptr);
}

tuning::Situation SpreadCommunicator::situation_of(const CallKind& kind, const Call& call, bool blocking) {
  look_around();
  tuning::Situation situation;
  situation.collective = call.collective;
  situation.ranks = ranks();
  situation.bytes = kind.bytes;
  situation.sizes_known = sizes_known(call.function);
  situation.equal_blocks = equal_blocks(call.function);
  situation.commutative = kind.commutative;
  situation.predefined = kind.operation != 0;
  situation.across_nodes = true;
  situation.near = near_ ? &*near_ : nullptr;
  situation.model = model_ ? &*model_ : nullptr;
  situation.costs_told = engine_.costs_are_told();
  situation.blocking = blocking;
  situation.worker = !blocking && engine_.worker_across_nodes();
  const aggregation::Service* const network = situation.worker ? nullptr : engine_.in_network().get();
  situation.in_network = network && network->takes(call.collective, kind);
  situation.streams = situation.in_network && network->streams();
  situation.mapped = situation.worker && engine_.worker_maps_heaps();
  situation.background = situation.worker || (!blocking && engine_.carries_messages_in_background());
  return situation;
}

bool SpreadCommunicator::is_handed_over(const tuning::Choice& choice, const Call& call, bool blocking) const {
  return engine_.worker_across_nodes() && !blocking && handover::is_for_workers(choice, call);
}

/// To go on with what the worker does not carry out.
bool SpreadCommunicator::lacks_somebody(bool blocking) const {
  return engine_.worker_across_nodes() && !blocking && !engine_.goes_on_beside_worker();
}

Path SpreadCommunicator::path_for(const CallKind& kind, const Call& call, bool blocking) {
  const tuning::Situation situation = situation_of(kind, call, blocking);
  const tuning::Choice choice = engine_.rules().choose(situation);
  Path path;
  std::string_view name = choice.name;
  std::string reason(choice.reason);
  if (is_handed_over(choice, call, blocking)) {
    path.handed = Handed{choice.recipe, choice.text};
    path.copies_input = copies_input(*choice.recipe.algorithm);
    reason += "; by the node's worker";
  } else if (lacks_somebody(blocking)) {
    name = "native";
    reason += "; the node's worker does not carry it out";
  } else if (!choice.is_native()) {
    const ir::Request request = request_of(kind, call.collective, ranks(), rank_);
    path.plan = plans_.get(choice.recipe, request, situation.near);
    if (!situation.sizes_known && !choice.recipe.by.empty())
      path.ahead =
          std::make_shared<const AheadPlan>(passes::build_ahead(choice.recipe, request, situation.near));
    path.copies_input = copies_input(*choice.recipe.algorithm);
  }
  path.row = rows_.row({kind.function, kind.form}, kind.bytes, name, reason);
  return path;
}

const Path& SpreadCommunicator::take_turn(Decision& decision) noexcept {
  decision_ = &decision;
  const CallKind& kind = decision.kind;
  const Path& path = decision.path;
  turn_ = {blocking_.next(), CallMark::of(kind, path.is_native())};
  if (timed_) [[unlikely]]
    started_ns_ = monotonic_ns();
  return path;
}

Outcome SpreadCommunicator::leave_to_mpi(const Path& path, const Call& call) noexcept {
  path.row->count(call.agreed_bytes);
  return timed_ ? Outcome::native_timed : Outcome::native;
}

Outcome SpreadCommunicator::follow(const Path& path, const Call& call) noexcept {
  blocking_.add(decision_->signature);
  try {
    operation_.prepare(path, call, turn_, blocking_.history);
  } catch (...) {
    fail_without_memory(turn_);
    return Outcome::error;
  }
  if (operation_.run() != Status::ok) return Outcome::error;
  path.row->count(call.agreed_bytes);
  return timed_ ? Outcome::done_timed : Outcome::done;
}

void SpreadCommunicator::ended() noexcept {
  if (!timed_) return;
  decision_->path.row->count_time(static_cast<double>(monotonic_ns() - started_ns_) * 1e-9);
}

void SpreadCommunicator::mark_native(Function) noexcept {
  blocking_.next();
}

Prepared* SpreadCommunicator::prepare(const Call& call, Form form) noexcept {
  if (guard_.failed()) return nullptr;
  CallKind kind = kind_of(call, call.agreed_bytes, ranks());
  kind.form = form;
  if (Prepared* known = prepared_.find(kind)) return known;
  try {
    auto prepared = std::make_unique<Prepared>();
    prepared->kind = kind;
    prepared->signature = signature_of_call(kind);
    prepared->path = path_for(kind, call, false);
    return &prepared_.add(std::move(prepared));
  } catch (...) {
    fail_without_memory({0, CallMark::of(kind)});
    return nullptr;
  }
}

std::unique_ptr<Starts> SpreadCommunicator::new_starts(const Path& path, std::uint32_t request) {
  if (path.handed)
    return std::make_unique<handover::HandedStarts>(
        std::make_unique<SpreadEmployer>(engine_, ground_, rank_, near_ ? &*near_ : nullptr),
        *engine_.worker_across_nodes(), request);
  return std::make_unique<SpreadStarts>(ground_, rank_, request);
}

/// All ranks make the communicator's persistent requests in the same order.
std::unique_ptr<Prepared> SpreadCommunicator::prepare_persistent(const Call& call) noexcept {
  const Prepared* decided = prepare(call, Form::persistent);
  if (!decided) return nullptr;
  const CallKind& kind = decided->kind;
  try {
    auto own = own_copy_of(*decided);
    if (!own->is_native()) own->own_starts = new_starts(own->path, ++persistent_requests_);
    return own;
  } catch (...) {
    fail_without_memory({0, CallMark::of(kind)});
    return nullptr;
  }
}

Starts& SpreadCommunicator::starts_of(const Prepared& prepared) {
  if (prepared.own_starts) return *prepared.own_starts;
  if (!prepared.path.handed) return starts_;
  if (!handed_) handed_ = new_starts(prepared.path, 0);
  return *handed_;
}

Outstanding* SpreadCommunicator::start(Prepared& prepared, const Call& call) noexcept {
  if (guard_.failed()) [[unlikely]]
    return nullptr;
  prepared.path.row->count(call.agreed_bytes);
  return starts_of(prepared).start(prepared, call);
}

template class DecidingCommunicator<SpreadCommunicator>;

}  // namespace hocket::engine
