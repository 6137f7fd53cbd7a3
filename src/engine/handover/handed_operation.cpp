#include "engine/handover/handed_operation.hpp"

#include <string>
#include <utility>

#include "base/error.hpp"
#include "engine/handover/handed_starts.hpp"

namespace hocket::engine::handover {

HandedOperation::HandedOperation(HandedStarts& starts)
    : starts_(starts),
      employer_(starts.employer()),
      client_(starts.client()),
      waiting_{employer_.wait_mode(), employer_.host().poke, employer_.host().context, this,
               &client_.sleepers(),   employer_.yields()},
      word_(client_) {}

namespace {

/// In place, what it has to give is a block that nothing else is written to.
bool has_block_of_its_own(ir::Collective collective) {
  return collective == ir::Collective::gather || collective == ir::Collective::allgather ||
         collective == ir::Collective::scatter;
}

}  // namespace

/// What an in-place operation overwrites may have to be read once more. The program does not touch it until
/// it has ended, so that others' input needs no copy.
void HandedOperation::prepare(const Prepared& prepared, const Call& call, const CallTurn& turn,
                              std::uint32_t signature) {
  stage_ = Stage::prepared;
  prepared_ = &prepared;
  call_ = call;
  turn_ = turn;
  command_ = {0, 0, signature};
  alone_ = nullptr;
  if (!call.in_place || has_block_of_its_own(call.collective) || !employer_.goes_on_alone()) return;
  static_cast<executors::Operation&>(call_) =
      input_copy_.of(call, static_cast<Rank>(employer_.members().size()));
}

bool HandedOperation::start(std::uint32_t definition) {
  command_.definition = definition;
  stage_ = Stage::at_worker;
  return hand_over();
}

void HandedOperation::start_alone() {
  alone_ = &starts_.unused_alone();
  stage_ = Stage::alone;
  alone_->prepare(starts_.path_alone(*prepared_, call_), call_, turn_, command_.signature);
}

bool HandedOperation::hand_over() {
  word_.take();
  command_.completion = word_.number();
  const Word::Own* const own = word_.own();
  const Bytes command =
      own ? encode(StartElsewhere{command_, reinterpret_cast<std::uintptr_t>(own)}) : encode(command_);
  if (client_.tell(command)) {
    employer_.report().count_handed_start(command.size());
    return true;
  }
  word_.give_back();
  return false;
}

/// peer_dead: this node's worker has gone, or another one.
Status HandedOperation::advance_at_worker() noexcept {
  const Status status = word_.status();
  if (status == Status::ok) stage_ = Stage::ended;
  if (status != Status::peer_dead || !starts_.take_over()) return status;
  return advance();
}

Status HandedOperation::advance_withdrawn() noexcept {
  if (employer_.hears_of_failure()) return Status::failed;
  const Takeover* const takeover = starts_.takeover();
  if (!takeover || !takeover->is_agreed()) return Status::pending;
  if (takeover->has_ended(turn_.number)) {
    stage_ = Stage::ended;
    return Status::ok;
  }
  try {
    start_alone();
  } catch (...) {
    return Status::no_memory;
  }
  return alone_->advance();
}

Status HandedOperation::advance() noexcept {
  switch (stage_) {
    case Stage::at_worker:
      return advance_at_worker();
    case Stage::withdrawn:
      return advance_withdrawn();
    case Stage::alone:
      return alone_->advance();
    case Stage::prepared:  // start() has found that the worker has gone, or comes next
      return Status::pending;
    case Stage::unused:
    case Stage::ended:
      break;
  }
  return Status::ok;
}

transports::Blocker HandedOperation::blocker() noexcept {
  if (stage_ == Stage::alone) return alone_->blocker();
  if (stage_ == Stage::at_worker) return {word_.awaited(), 0, employer_.world_rank()};
  return {nullptr, 0, employer_.rank()};
}

const transports::Waiting& HandedOperation::waiting() const noexcept {
  return stage_ == Stage::alone ? alone_->waiting() : waiting_;
}

Status HandedOperation::look(Rank, std::uint64_t waited_ns) noexcept {
  if (employer_.hears_of_failure()) return Status::failed;
  return stage_ == Stage::withdrawn ? look_at_others() : look_at_worker(waited_ns);
}

Status HandedOperation::look_at_worker(std::uint64_t waited_ns) noexcept {
  if (!client_.is_well()) return starts_.take_over() ? Status::ok : Status::peer_dead;
  if (client_.is_stall(waited_ns)) starts_.report_stall(turn_, waited_ns);
  return Status::ok;
}

/// They say what has ended when they are in a call of MPI next.
Status HandedOperation::look_at_others() const noexcept {
  return client_.is_stall(starts_.waits_for_others_ns()) ? Status::peer_dead : Status::ok;
}

/// Until the worker touches the buffers no more.
void HandedOperation::abandon() noexcept {
  if (!word_ || word_.status() != Status::pending) return;
  client_.try_to_tell(Abandon{word_.number()});  // else it is waited for all the same
  for (transports::Patience patience(waiting_, 0); word_.status() == Status::pending && client_.is_well();)
    patience.pause(word_.awaited(), 0);
}

void HandedOperation::withdraw() noexcept {
  if (stage_ != Stage::prepared && stage_ != Stage::at_worker) return;
  abandon();
  stage_ = word_.status() == Status::ok ? Stage::ended : Stage::withdrawn;
}

void HandedOperation::fail(Status status) noexcept {
  if (stage_ == Stage::alone) {
    alone_->fail(status);
    return employer_.has_failed_alone();
  }
  if (stage_ == Stage::withdrawn && status == Status::peer_dead) return starts_.fail_for_silence();
  const bool is_over = stage_ == Stage::at_worker && word_.status() != Status::pending;
  if (!client_.is_well()) return employer_.fail(client_.trouble());
  if (const std::string words = is_over ? client_.words() : std::string(); !words.empty())
    employer_.fail(words);
  else
    employer_.fail(turn_, status);
  abandon();
}

void HandedOperation::release() noexcept {
  word_.status() == Status::pending ? word_.lose() : word_.give_back();
  if (alone_) alone_->release();
  alone_ = nullptr;
  stage_ = Stage::unused;
  starts_.give_back(*this);
}

}  // namespace hocket::engine::handover
