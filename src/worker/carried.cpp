#include "worker/carried.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "tuning/model.hpp"
#include "tuning/parse_recipe.hpp"
#include "worker/call_checks.hpp"

namespace hocket::worker {

using engine::handover::Define;

namespace {

constexpr std::size_t most_fitting = 64;

ir::Request request_of(const Communicator& communicator, const Define& define) {
  ir::Request request;
  request.collective = define.operation.collective;
  request.ranks = static_cast<ir::Rank>(communicator.members.size());
  request.rank = communicator.rank;
  request.root = define.operation.root;
  request.commutative = define.operation.reduction.commutative;
  return request;
}

ir::Request barrier_of(const Communicator& communicator) {
  ir::Request request;
  request.collective = ir::Collective::barrier;
  request.ranks = static_cast<ir::Rank>(communicator.members.size());
  request.rank = communicator.rank;
  return request;
}

/// It has no buffers.
const executors::Operation& barrier() {
  static const executors::Operation operation = [] {
    executors::Operation made;
    made.collective = ir::Collective::barrier;
    return made;
  }();
  return operation;
}

/// Which may take long, so each recipe is looked at once.
void check_size(Communicator& communicator, const passes::Recipe& recipe, const ir::Request& request) {
  if (std::ranges::find(communicator.fitting, recipe) != communicator.fitting.end()) return;
  if (tuning::is_too_large(recipe, request, communicator.near ? &*communicator.near : nullptr))
    throw Error("an algorithm with more ops than there are");
  if (communicator.fitting.size() >= most_fitting) communicator.fitting.clear();
  communicator.fitting.push_back(recipe);
}

engine::Plans::Shared plan_of(Communicator& communicator, const Define& define) {
  const passes::Recipe recipe = tuning::parse_recipe(define.operation.collective, define.recipe);
  const ir::Request request = request_of(communicator, define);
  const passes::Neighbourhood* const near = communicator.near ? &*communicator.near : nullptr;
  if (recipe.is_native() || recipe.algorithm->access != algorithms::Access::two_sided)
    throw Error("an algorithm that is none of messages");
  if (passes::misfit(recipe, request, near) != passes::Misfit::none)
    throw Error("an algorithm that does not fit");
  check_size(communicator, recipe, request);
  return communicator.plans.get(recipe, request, near);
}

/// As passes::Neighbourhood takes them. Nothing: nobody knows.
std::optional<passes::Neighbourhood> neighbourhood_of(const engine::handover::Open& open) {
  if (open.rows == 0) return std::nullopt;
  std::vector<passes::GroupNumbers> rows;
  const auto members = static_cast<std::ptrdiff_t>(open.members.size());
  for (auto row = open.groups.begin(); row != open.groups.end(); row += members)
    rows.emplace_back(row, row + members);
  return std::make_optional<passes::Neighbourhood>(rows, open.sockets);
}

}  // namespace

Communicator::Communicator(const engine::handover::Open& open)
    : id(open.id), rank(open.rank), members(open.members), near(neighbourhood_of(open)) {}

engine::Plans::Shared Communicator::commit() {
  const algorithms::Algorithm* const row = algorithms::find(ir::Collective::barrier, "message_dissemination");
  return plans.get(passes::plain(*row), barrier_of(*this));
}

Definition::Definition(std::shared_ptr<Communicator> of, Define call, const RankProcess& process)
    : communicator(std::move(of)),
      define(std::move(call)),
      views(views_of(define, communicator->rank, communicator->members.size(), process)),
      plan(plan_of(*communicator, define)),
      commit(communicator->commit()),
      bytes(checked_size(*plan, engine::handover::described(define), views)) {}

Carried::Carried(std::shared_ptr<const Definition> definition, transports::mpi::Network& network,
                 RankProcess& process, const Beat& beat)
    : definition_(std::move(definition)),
      network_(network),
      process_(process),
      beat_(beat),
      input_(definition_->views.input.mirror_bytes()),
      output_(definition_->views.output.mirror_bytes()),
      operation_(viewed(definition_->define, definition_->views, input_.data(), output_.data())),
      slices_(operation_, *definition_->plan) {
  for (std::size_t i = 0; i < std::min<std::size_t>(slices_.count(), most_lanes); ++i)
    lanes_.push_back(std::make_unique<Lane>(network, *definition_->communicator));
  check_reach(*definition_->plan, operation_, definition_->views, input_.all(), output_.all());
  memory_error_ = definition_->views.output.probe(process);
}

void Carried::begin(const engine::handover::Start& start) {
  Communicator& communicator = *definition_->communicator;
  start_ = start;
  first_ = communicator.started + 1;
  communicator.started += slices_.count();
  begun_ = written_ = 0;
  progress_of_written_ = 0;
  wait_ = {};
  lacks_memory_ = false;
  communicator.order.line_up(first_, slices_.weight());
  commit_.lay(*definition_->commit, barrier(), lane_of(slices_.count() - 1).messages);
}

/// No more are under way than there are lanes.
bool Carried::may_begin_slice() const noexcept {
  if (begun_ == slices_.count() || begun_ - written_ == lanes_.size()) return false;
  return definition_->communicator->order.may_begin(first_, slices_.weight());
}

/// Memory is used for what the rank really has: the schedule's own comes after the input.
void Carried::begin_slice() {
  beat_();
  memory_error_ = read(begun_);
  if (memory_error_ != 0) return;
  Lane& lane = lane_of(begun_);
  lane.messages.begin(first_ + begun_, start_.signature, definition_->define.words);
  lane.run.lay(*definition_->plan, operation_, slices_[begun_], lane.messages);
  lane.has_ended = false;
  ++begun_;
  definition_->communicator->order.begin(slices_.weight(), begun_ == slices_.count());
}

/// Lanes are warm after the first slices: none is longer. Without memory for these the rank goes on by itself
/// (lacks_workers()).
Status Carried::begin_slices() noexcept try {
  while (memory_error_ == 0 && may_begin_slice()) begin_slice();
  return memory_error_ == 0 ? Status::ok : Status::failed;
} catch (...) {
  lacks_memory_ = true;
  return Status::failed;
}

/// The errno of a rank that has just ended, or has given memory that it does not have.
int Carried::read(std::uint32_t slice) noexcept {
  const CallViews& views = definition_->views;
  if (slices_.count() > 1) {
    if (const int error = views.input.read(process_, input_.data(), slices_[slice]); error != 0) return error;
    return views.reads_output ? views.output.read(process_, output_.data(), slices_[slice]) : 0;
  }
  if (const int error = views.input.read(process_, input_.data(), beat_); error != 0) return error;
  return views.reads_output ? views.output.read(process_, output_.data(), beat_) : 0;
}

int Carried::write(std::uint32_t slice) noexcept {
  const CallViews& views = definition_->views;
  if (!views.writes_output) return 0;
  return slices_.count() > 1 ? views.output.write(process_, output_.data(), slices_[slice])
                             : views.output.write(process_, output_.data(), beat_);
}

/// Then another may begin.
Status Carried::write_slice() noexcept {
  memory_error_ = write(written_);
  if (memory_error_ != 0) return Status::failed;
  progress_of_written_ += lane_of(written_).run->progress() + 1;
  ++written_;
  definition_->communicator->order.end(slices_.weight());
  return Status::ok;
}

Status Carried::carry_slices() noexcept {
  while (!is_written()) {
    if (const Status status = begin_slices(); status != Status::ok) return status;
    for (std::uint32_t slice = written_; slice < begun_; ++slice) {
      Lane& lane = lane_of(slice);
      const Status status = lane.has_ended ? Status::ok : lane.run->advance();
      if (status != Status::ok && status != Status::pending) return status;
      lane.has_ended = status == Status::ok;
    }
    if (begun_ == written_ || !lane_of(written_).has_ended) return Status::pending;
    if (const Status status = write_slice(); status != Status::ok) return status;
  }
  return Status::ok;
}

Status Carried::carry_out() noexcept {
  if (memory_error_ != 0) return Status::failed;
  if (const Status status = carry_slices(); status != Status::ok) return status;
  return commit_->advance();
}

/// It has ended for a rank when all ranks have their results: if a worker dies before, the ranks can carry it
/// out themselves, since each still has its input.
Status Carried::advance() noexcept {
  const Status status = carry_out();
  return status == Status::pending && failure() ? Status::failed : status;
}

ir::Rank Carried::unanswered(std::uint64_t now_ns, std::uint64_t stall_ns) noexcept {
  const ir::Rank peer = memory_error_ == 0 ? awaited_member() : -1;
  const std::size_t before = std::exchange(progress_then_, progress());
  if (world(peer) < 0 || peer != wait_.peer() || progress_then_ != before) went_on_ns_ = now_ns;
  wait_.go_on(peer, now_ns - went_on_ns_);
  if (world(peer) < 0) return -1;
  transports::mpi::Messages& waiting = lane_of(is_written() ? written_ - 1 : written_).messages;
  wait_.ask_if_late(waiting);
  return wait_.waited_ns() > stall_ns && wait_.is_unanswered(waiting) ? world(peer) : -1;
}

/// Costs a load where nothing has failed.
std::optional<transports::mpi::CommunicatorId> Carried::failure() const noexcept {
  const Communicator& communicator = *definition_->communicator;
  if (!network_.any_failure()) return std::nullopt;
  if (network_.failed(communicator.id)) return communicator.id;
  for (const ir::Rank member : communicator.members)
    if (network_.failed(id_of_death(member))) return id_of_death(member);
  return std::nullopt;
}

std::string Carried::disagreement() const {
  std::optional<transports::mpi::Messages::Disagreement> found;
  for (const auto& lane : lanes_)
    if (!found) found = lane->messages.disagreement();
  if (!found || !found->same_call) return "the ranks of a communicator call different collectives";
  return "the ranks of a communicator disagree about the data: rank " + std::to_string(found->peer) +
         " sends " + std::to_string(found->sent) + " bytes to rank " +
         std::to_string(definition_->communicator->rank) + ", which expects " +
         std::to_string(found->expected);
}

std::string Carried::why(Status status) const {
  const std::string call =
      "MPI_I" + std::string(ir::name_of(operation_.collective)) + ", by the node's worker: ";
  if (memory_error_ != 0)
    return call + "the rank's buffers cannot be reached: " + std::strerror(memory_error_);
  if (lacks_memory_) return call + "it has no memory left";
  if (const auto id = failure()) return call + network_.failure(*id);
  if (status == Status::mismatch) return call + disagreement();
  if (const ir::Rank lost = status == Status::peer_dead ? awaited() : network_.lost(); lost >= 0)
    return call + "the worker of rank " + std::to_string(lost) + " cannot be reached any more";
  return call + "its messages failed";
}

}  // namespace hocket::worker
