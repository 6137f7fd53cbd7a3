// Which path a call of a communicator takes: decided from what all ranks know alike, then looked up.
// node_communicator.cpp runs it.
#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/call_kind.hpp"
#include "engine/function_table.hpp"
#include "engine/node_communicator.hpp"
#include "engine/node_employer.hpp"

namespace hocket::engine {

using algorithms::Access;
using algorithms::Algorithm;
using executors::Binding;
using executors::Plan;

namespace {

/// Smaller calls end before a trial's clock has been read.
constexpr std::size_t least_tried_bytes = 16 * 1024;
constexpr std::string_view won_reason = "a trial of the data paths, in the program's own calls";
constexpr std::string_view lent_reason =
    "a trial of the data paths, in the program's own calls: large blocks are read where they are";

/// An element at least, where data go through staging buffers with areas of this size.
bool fits_staging(const Plan& plan, const Call& call, std::size_t area_bytes) {
  return plan.staging_chunks == 0 || Binding(plan, call).longest_segment(area_bytes) > 0;
}

}  // namespace

Decision* NodeCommunicator::decision_about(const Call& call) noexcept {
  if (!sizes_known(call.function)) return sampled_decision(call);
  return decision_for(kind_of(call, call.agreed_bytes, channel_.ranks()), call);
}

/// Nothing is known of such a call but its function, its root, and the size of earlier ones: mostly those of
/// the last one.
Decision* NodeCommunicator::sampled_decision(const Call& call) noexcept {
  const CallKind kind = kind_of(call, size_samples_.agreed_before(call), channel_.ranks());
  Decision*& last = sampled_[static_cast<std::size_t>(call.function)];
  return last && last->kind == kind ? last : last = decision_for(kind, call);
}

Decision* NodeCommunicator::decision_for(const CallKind& kind, const Call& call) noexcept {
  Decision* decision = decisions_.find(kind);
  return decision && is_current(*decision, kind) ? decision : decide_anew(kind, call);
}

Decision* NodeCommunicator::decide_anew(const CallKind& kind, const Call& call) noexcept {
  try {
    Decision& decision = decisions_.make(kind);
    const std::uint32_t generation = decision.generation + 1;
    if (decision.known && decision.kind != kind && !decision.path.is_native())
      engine_.report().count_plan_given_up();
    decision = Decision{};
    decision.kind = kind;
    decision.generation = generation;
    decide(decision, call);
    if (!decision.path.is_native()) engine_.report().count_plan_made();
    return &decision;
  } catch (...) {  // no memory for a plan on this rank alone: the others cannot know
    guard_.fail(channel_.instance() + 1, Status::no_memory);
    return nullptr;
  }
}

bool NodeCommunicator::is_current(const Decision& decision, const CallKind& kind) const noexcept {
  if (!decision.known || decision.kind != kind) return false;
  return !decision.provisional || !single_copy_.may_change(channel_.instance() + 1);
}

tuning::Situation NodeCommunicator::situation_of(const CallKind& kind, const Call& call) const {
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
  tuning::Situation situation = situation_of(decision.kind, call);
  const bool concerned = single_copy_.concerns(situation);
  decision.provisional = concerned && !single_copy_.settled();
  situation.single_copy = concerned && single_copy_.holds(situation.collective);
  if (decision.provisional && single_copy_.settled()) {
    decision.provisional = false;
    ++found_out_;
  }

  const tuning::Choice choice = engine_.rules().choose(situation);
  decision.known = true;
  decision.signature = engine_.options().check ? signature_of(decision.kind) : 1;
  decision.path = path_for(decision.kind, call, choice);
  if (!decision.provisional) begin_trial(decision, call, situation, choice);
}

Path NodeCommunicator::path_for(const CallKind& kind, const Call& call, const tuning::Choice& choice) {
  if (choice.is_native()) return native(kind, choice.reason);
  Path path = flat_path(kind, call, choice);
  if (!path.flat) {
    path = planned(kind, call, choice);
    if (path.is_native()) return path;
  }
  path.row = rows_.row({kind.function, kind.form}, kind.bytes, choice.name, choice.reason);
  return path;
}

Path NodeCommunicator::path_of(const Contender& contender, const CallKind& kind, const Call& call) {
  Path path = path_for(kind, call, contender.choice);
  path.lends = path.lends || contender.lends;
  return path;
}

/// By a compiled plan, if the row has one and the data are small enough.
Path NodeCommunicator::flat_path(const CallKind& kind, const Call& call, const tuning::Choice& choice) const {
  Path path;
  path.published =
      compiled::published_bytes(call.collective, channel_.ranks(), kind.bytes, kind.largest_block);
  if (sizes_known(call.function) && path.published <= transports::shm::payload_bytes)
    path.flat = compiled::find_flat(call.collective, choice.recipe.algorithm->name);
  return path;
}

Path NodeCommunicator::native(const CallKind& kind, std::string_view reason) {
  Path path;
  path.row = rows_.row({kind.function, kind.form}, kind.bytes, "native", reason);
  return path;
}

Plans::Shared NodeCommunicator::plan_for(const CallKind& kind, const Call& call,
                                         const tuning::Choice& choice) {
  return plans_.get(choice.recipe, request_of(kind, call.collective, channel_.ranks(), channel_.rank()));
}

Path NodeCommunicator::planned(const CallKind& kind, const Call& call, const tuning::Choice& choice) {
  const Algorithm& algorithm = *choice.recipe.algorithm;
  if (!runner_.has_memory_for(algorithm)) return native(kind, "the arena's budget is spent");
  Plans::Shared plan = plan_for(kind, call, choice);
  if (!fits_staging(*plan, call, transports::shm::staging_area_bytes))
    return native(kind, "one element is larger than the staging buffer");
  runner_.fit(*plan);
  Path path;
  path.plan = std::move(plan);
  path.algorithm = &algorithm;
  path.small_blocks_first = algorithm.access == Access::two_sided && !sizes_known(call.function) &&
                            compiled::SmallBlocks::possible(channel_.ranks());
  path.lends = engine_.options().cma == "on";
  path.copies_input = copies_input(algorithm);
  return path;
}

namespace {

/// An exscan of two ranks combines nothing: the second one has the first one's data.
bool only_moves_data(ir::Collective collective, Rank ranks) {
  if (collective == ir::Collective::exscan) return ranks <= 2;
  return !ir::is_reduction(collective) && collective != ir::Collective::barrier;
}

}  // namespace

/// Large calls that move data: what the rules chose, single copy if they did not choose it though it is
/// possible, for blocks of any size by loans, and the MPI's own call. None: nothing to try.
NodeCommunicator::Contenders NodeCommunicator::contenders(const Call& call,
                                                          const tuning::Situation& situation,
                                                          const tuning::Choice& ruled) const {
  Contenders found;
  if (!engine_.options().trials || !only_moves_data(call.collective, channel_.ranks()) || ruled.is_native() ||
      !ruled.built_in || situation.bytes < least_tried_bytes)
    return found;
  found.add({ruled});
  const Algorithm* exposed = single_copy_.is_possible() && situation.equal_blocks
                                 ? algorithms::find(call.collective, "exposed")
                                 : nullptr;
  if (exposed && exposed != ruled.recipe.algorithm)
    found.add({{passes::plain(*exposed), true, exposed->name, exposed->name, won_reason}});
  const auto least_loan = single_copy_.least_loan();
  if (!situation.equal_blocks && ruled.recipe.algorithm->access == Access::two_sided && least_loan &&
      engine_.options().cma != "on" && situation.bytes >= *least_loan)
    found.add({{ruled.recipe, true, ruled.name, ruled.text, lent_reason}, true});
  found.add({{{}, true, "native", "native", won_reason}});
  return found;
}

void NodeCommunicator::begin_trial(Decision& decision, const Call& call, const tuning::Situation& situation,
                                   const tuning::Choice& ruled) {
  const Contenders found = contenders(call, situation, ruled);
  if (found.count == 0 || decision.path.is_native()) return;
  decision.tried[0] = decision.path;
  for (std::size_t i = 1; i < found.count; ++i)
    decision.tried[i] = path_of(found.all[i], decision.kind, call);
  decision.trial = &trials_.of(call.function, decision.kind.bytes, found.count);
}

Prepared* NodeCommunicator::prepare(const Call& call, Form form) noexcept {
  if (guard_.failed()) return nullptr;
  CallKind kind = kind_of(call, call.agreed_bytes, channel_.ranks());
  kind.form = form;
  if (Prepared* known = prepared_.find(kind); known && known->found_out == found_out_) return known;
  try {
    auto prepared = std::make_unique<Prepared>();
    prepared->kind = kind;
    prepared->found_out = found_out_;
    prepared->signature = engine_.options().check ? signature_of(kind) : 1;
    if (!decide_for_worker(*prepared, call)) decide_on_lane(*prepared, call);
    if (form == Form::nonblocking) open_starts_for(*prepared);
    return &prepared_.add(std::move(prepared));
  } catch (...) {  // no memory for a plan on this rank alone: the others cannot know
    guard_.fail(channel_.instance() + 1, Status::no_memory);
    return nullptr;
  }
}

std::unique_ptr<Prepared> NodeCommunicator::prepare_persistent(const Call& call) noexcept {
  const Prepared* decided = prepare(call, Form::persistent);
  if (!decided) return nullptr;
  try {
    auto own = own_copy_of(*decided);
    if (!own->is_native()) open_own_starts(*own);
    return own;
  } catch (...) {  // on this rank alone, again
    guard_.fail(channel_.instance() + 1, Status::no_memory);
    return nullptr;
  }
}

std::unique_ptr<NonblockingLane> NodeCommunicator::open_lane(std::uint32_t number) {
  return NonblockingLane::open({engine_, key_, members_, guard_, single_copy_, channel_}, number);
}

/// All ranks make the communicator's persistent requests in the same order.
void NodeCommunicator::open_own_starts(Prepared& prepared) {
  const std::uint32_t request = ++persistent_requests_;
  if (prepared.path.handed) {
    prepared.own_starts = new_handed_starts(request);
    return;
  }
  auto lane = open_lane(request);
  if (lane && lane->has_memory_for(prepared))
    prepared.own_starts = std::move(lane);
  else
    prepared.path = native(prepared.kind, "the arena's budget is spent");
}

/// The communicator's lane is opened by the first call that is not left to the MPI or the worker: a bounded
/// lock, and no other rank has to be there.
void NodeCommunicator::open_starts_for(Prepared& prepared) {
  if (prepared.is_native()) return;
  if (prepared.path.handed) {
    if (!handed_) handed_ = new_handed_starts(0);
    return;
  }
  if (!lane_) lane_ = open_lane(0);
  if (!lane_ || !lane_->has_memory_for(prepared))
    prepared.path = native(prepared.kind, "the arena's budget is spent");
}

std::unique_ptr<Starts> NodeCommunicator::new_handed_starts(std::uint32_t request) {
  return std::make_unique<handover::HandedStarts>(
      std::make_unique<NodeEmployer>(engine_, key_, members_, channel_.rank(), guard_), *engine_.worker(),
      request);
}

/// Its worker sends messages between the ranks. What the rules leave to the MPI, or have another algorithm
/// for, the ranks do faster by themselves. False: the worker does not carry it out.
bool NodeCommunicator::decide_for_worker(Prepared& prepared, const Call& call) {
  if (!engine_.worker()) return false;
  tuning::Situation situation = situation_of(prepared.kind, call);
  situation.blocking = false;
  situation.background = true;
  situation.worker = true;
  situation.mapped = engine_.worker_maps_heaps();
  situation.whole_node = channel_.ranks() == engine_.arena()->local_ranks();
  const tuning::Choice choice = engine_.rules().choose(situation);
  if (!handover::is_for_workers(choice, call)) return false;
  const CallKind& kind = prepared.kind;
  prepared.path.handed = Handed{choice.recipe, choice.text};
  prepared.path.copies_input = copies_input(*choice.recipe.algorithm);
  prepared.path.row = rows_.row({kind.function, kind.form}, kind.bytes, choice.name,
                                std::string(choice.reason) + "; by the node's worker");
  return true;
}

/// Before it is known whether the ranks read each other's memory, for both answers; but messages of a pair
/// take turns, which are given away at the start.
void NodeCommunicator::decide_on_lane(Prepared& prepared, const Call& call) {
  tuning::Situation situation = situation_of(prepared.kind, call);
  const bool concerned = single_copy_.concerns(situation);
  situation.single_copy = concerned && single_copy_.was_found_on_lane_for(situation);
  prepared.path = path_on_lane(prepared.kind, call, choice_on_lane(prepared.kind.form, call, situation));
  if (!concerned || single_copy_.settled() || !prepared.path.plan || !prepared.path.plan->one_sided()) return;
  situation.single_copy = true;
  const tuning::Choice other = engine_.rules().choose(situation);
  if (!other.is_native() && other.recipe.algorithm->single_copy)
    prepared.single_copy = path_on_lane(prepared.kind, call, other);
}

/// What blocking calls of this kind have found to be fastest so far, if they have tried. Whether the MPI's
/// own call is, is another question where a thread goes on with Hocket's, where ranks read each other's
/// memory on lanes alone, and for persistent ones.
tuning::Choice NodeCommunicator::choice_on_lane(Form form, const Call& call,
                                                const tuning::Situation& situation) const {
  const tuning::Choice ruled = engine_.rules().choose(situation);
  tuning::Situation blocking = situation;
  blocking.single_copy = situation.single_copy && single_copy_.was_found_for(situation.collective);
  const Contenders found = contenders(call, blocking, engine_.rules().choose(blocking));
  const Trial* trial = found.count == 0 ? nullptr : trials_.find(call.function, situation.bytes, found.count);
  if (!trial || trial->judged() == 0) return ruled;
  const tuning::Choice& winner = found.all[trial->winner()].choice;
  const bool may_be_native = form == Form::nonblocking && !engine_.progresses_in_background() &&
                             blocking.single_copy == situation.single_copy;
  return !winner.is_native() || may_be_native ? winner : ruled;
}

Path NodeCommunicator::path_on_lane(const CallKind& kind, const Call& call, const tuning::Choice& choice) {
  if (choice.is_native()) return native(kind, choice.reason);
  Path path = flat_path(kind, call, choice);
  if (!path.flat) {
    path.plan = plan_for(kind, call, choice);
    path.algorithm = choice.recipe.algorithm;
    path.copies_input = copies_input(*choice.recipe.algorithm);
    if (!fits_staging(*path.plan, call, transports::shm::Lane::staging_area_bytes))
      return native(kind, "one element is larger than the staging buffer");
  }
  path.row = rows_.row({kind.function, kind.form}, kind.bytes, choice.name, choice.reason);
  return path;
}

}  // namespace hocket::engine
