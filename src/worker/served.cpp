#include "worker/served.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.hpp"

namespace hocket::worker {

using namespace engine::handover;

namespace {

/// Of one rank in one turn.
constexpr int most_commands = 1024;
/// Under way at a time.
constexpr std::size_t most_operations = std::size_t{1} << 20U;
/// What is left of a stream when its rank has ended is more than that.
constexpr int most_last_turns = StreamMemory::capacity / sizeof(CommandHead) / most_commands + 1;
/// A longer command's memory is given back.
constexpr std::size_t usual_command = StreamMemory::capacity;

}  // namespace

Served::Served(Office& office, ir::Rank rank, std::unique_ptr<RankProcess> process, StreamMemory& commands,
               std::size_t idle_bytes)
    : office_(office),
      beat_([&office] { office.beat(); }),
      rank_(rank),
      process_(std::move(process)),
      commands_(commands),
      idle_(idle_bytes) {}

bool Served::read_head() {
  if (head_read_ == sizeof head_) return true;
  head_read_ += commands_.read(std::as_writable_bytes(std::span(&head_, 1)).subspan(head_read_));
  if (head_read_ < sizeof head_) return false;
  if (head_.kind <= Kind::none || head_.kind > Kind::leave) throw Error("a command of no kind");
  body_.clear();
  return true;
}

/// Into memory for what has come, not for what is said to come.
bool Served::read_body() {
  const std::size_t before = body_.size();
  if (const std::size_t come = std::min(commands_.available(), StreamMemory::capacity);
      come != 0 && before < head_.bytes) {
    body_.resize(before + std::min(head_.bytes - before, come));
    body_.resize(before + commands_.read(std::span(body_).subspan(before)));
  }
  return body_.size() == head_.bytes;
}

/// False: the workers do not know each other yet, and nothing can be done.
bool Served::open_network() {
  if (network_) return true;
  std::unique_ptr<transports::mpi::Port> port = office_.port_of(rank_);
  if (!port) return false;
  network_ = std::make_unique<transports::mpi::Network>(std::move(port));
  return true;
}

/// True: something has come.
bool Served::read_commands() {
  if (commands_.is_broken()) throw Error("a stream that nobody can have written");
  bool any = false;
  for (int left = most_commands; left > 0 && read_head(); --left) {
    if (head_.kind != Kind::connect && !open_network()) return any;
    const std::size_t before = body_.size();
    if (!read_body()) return any || body_.size() != before;
    head_read_ = 0;
    carry_out(body_);
    if (body_.size() > usual_command) body_ = {};
    any = true;
  }
  return any;
}

void Served::check_members(const Open& open) const {
  const ir::Rank ranks = network_->port().ranks();
  std::vector<bool> seen(static_cast<std::size_t>(ranks));
  for (const ir::Rank member : open.members) {
    if (member < 0 || member >= ranks) throw Error("a communicator with a rank that the job does not have");
    if (seen[static_cast<std::size_t>(member)]) throw Error("a communicator with a rank twice");
    seen[static_cast<std::size_t>(member)] = true;
  }
  if (open.members[static_cast<std::size_t>(open.rank)] != rank_)
    throw Error("a communicator that this rank is not in");
}

void Served::carry_out(std::span<const std::byte> body) {
  if (has_left_) throw Error("a command after the last one");
  switch (const Kind kind = head_.kind; kind) {
    case Kind::none:
      break;
    case Kind::connect:
      return office_.connect(decode<Connect>(body), rank_);
    case Kind::open:
      return open(decode<Open>(body));
    case Kind::define:
      return define(decode<Define>(body));
    case Kind::start:
      return start(decode<Start>(body));
    case Kind::start_elsewhere:
      return start_elsewhere(decode<StartElsewhere>(body));
    case Kind::abandon:
      return abandon(decode<Abandon>(body).completion);
    case Kind::forget: {
      const std::uint32_t definition = decode<Forget>(body).definition;
      idle_.forget(definition);
      definitions_.erase(definition);
      return;
    }
    case Kind::close:
      return close(decode<Close>(body).communicator);
    case Kind::share:
      return process_->share(decode<Share>(body).range);
    case Kind::leave:
      decode<Leave>(body);
      return leave();
  }
}

/// Its process may go on for long, as another program even. What is under way keeps what it needs.
void Served::leave() {
  has_left_ = true;
  for (const auto& [number, definition] : definitions_) idle_.forget(number);
  definitions_.clear();
  process_->forget_ranges();
}

void Served::open(const Open& open) {
  check_members(open);
  if (communicators_.contains(open.number)) throw Error("a communicator with the number of another");
  communicators_[open.number] = std::make_shared<Communicator>(open);
}

void Served::define(Define define) {
  const auto communicator = communicators_.find(define.communicator);
  if (communicator == communicators_.end()) throw Error("a call on a communicator that is not open");
  const std::uint32_t number = define.number;
  if (definitions_.contains(number)) throw Error("a call with the number of another");
  const auto made = std::make_shared<const Definition>(communicator->second, std::move(define), *process_);
  if (made->views.are_mapped()) process_->count_mapped();
  definitions_[number] = made;
}

void Served::close(std::uint32_t communicator) {
  std::erase_if(definitions_, [&](const auto& one) {
    const bool is_of_it = one.second->define.communicator == communicator;
    if (is_of_it) idle_.forget(one.first);
    return is_of_it;
  });
  communicators_.erase(communicator);
}

std::unique_ptr<Carried> Served::operation_of(std::uint32_t definition) {
  const auto found = definitions_.find(definition);
  if (found == definitions_.end()) throw Error("a start of what is not defined");
  if (std::unique_ptr<Carried> idle = idle_.take(definition)) return idle;
  return std::make_unique<Carried>(found->second, *network_, *process_, beat_);
}

void Served::start(const Start& start) {
  if (start.completion >= most_under_way || taken_[start.completion])
    throw Error("a start with the completion of another");
  begin(start, 0);
  taken_[start.completion] = true;
}

void Served::start_elsewhere(const StartElsewhere& command) {
  if (command.start.completion < most_under_way || command.word == 0)
    throw Error("a start with the completion of another");
  if (under_way_.size() >= most_operations) throw Error("more operations than any rank starts");
  begin(command.start, command.word);
}

void Served::begin(const Start& start, std::uint64_t word) {
  std::unique_ptr<Carried> operation = operation_of(start.definition);
  operation->begin(start);
  under_way_.push_back({start.definition, std::move(operation), word});
}

/// For the next start, unless its call has been forgotten meanwhile.
void Served::keep(std::uint32_t definition, std::unique_ptr<Carried> operation) {
  const auto found = definitions_.find(definition);
  if (found != definitions_.end() && found->second.get() == &operation->definition())
    idle_.keep(definition, std::move(operation));
}

/// The network may still send from its buffers.
void Served::retire(std::unique_ptr<Carried> operation) {
  operation->abandon();
  retired_.push_back(std::move(operation));
}

bool Served::has_left() noexcept {
  return !network_ || network_->has_left();
}

void Served::complete(std::uint32_t completion, std::uint64_t elsewhere, Status status) noexcept {
  if (elsewhere != 0) {
    auto value = static_cast<std::byte>(completion_of(status));
    process_->write(elsewhere, {&value, 1});
    return;
  }
  taken_[completion] = false;
  process_->complete(completion, status);
}

void Served::say_why(const Carried& operation, Status status) noexcept {
  try {
    process_->say_why(operation.why(status));
  } catch (...) {  // no memory for it
    process_->say_why("");
  }
}

void Served::tell_of_death() noexcept {
  try {
    if (!open_network()) return;
    std::vector<ir::Rank> all(static_cast<std::size_t>(network_->port().ranks()));
    std::iota(all.begin(), all.end(), ir::Rank{0});
    network_->fail(id_of_death(rank_), all,
                   "rank " + std::to_string(rank_) + " of the job (pid " + std::to_string(process_->pid()) +
                       ") has ended");
  } catch (...) {
    return;  // no memory for it: the others find out when they wait for long
  }
}

/// It may have left in order. Who has left what it had under way has not.
void Served::mourn() noexcept {
  try {
    for (int turn = 0; !is_broken_ && turn < most_last_turns && read_commands();) ++turn;
  } catch (...) {
    is_broken_ = true;
  }
  has_left_ = has_left_ && !is_broken_ && under_way_.empty();
  for (UnderWay& one : under_way_) retire(std::move(one.operation));
  under_way_.clear();
  if (!has_left_) tell_of_death();
  communicators_.clear();
}

void Served::abandon(std::uint32_t completion) {
  const auto found = std::ranges::find_if(
      under_way_, [completion](const UnderWay& one) { return one.operation->completion() == completion; });
  if (found == under_way_.end()) return;
  const std::uint64_t word = found->word;
  retire(std::move(found->operation));
  under_way_.erase(found);
  complete(completion, word, Status::failed);
}

/// Nobody says that a message does not come because the worker that should send it has ended. peer_dead: then
/// the ranks go on without workers.
Status Served::advance(Carried& operation) noexcept {
  const Status status = operation.advance();
  if (operation.lacks_workers(status)) return Status::peer_dead;
  if (status != Status::pending) return status;
  const ir::Rank awaited = operation.awaited();
  return awaited >= 0 && office_.has_lost(awaited) ? Status::peer_dead : status;
}

/// Oldest first: others wait for what was started before.
bool Served::go_on() {
  bool moved = false;
  for (std::size_t i = 0; i < under_way_.size();) {
    Carried& operation = *under_way_[i].operation;
    const std::size_t before = operation.progress();
    const Status status = advance(operation);
    moved = moved || status != Status::pending || operation.progress() != before;
    if (status == Status::pending) {
      ++i;
      continue;
    }
    if (status != Status::ok) say_why(operation, status);
    UnderWay ended = std::move(under_way_[i]);
    under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(i));
    const std::uint32_t completion = ended.operation->completion();
    if (status != Status::ok)
      retire(std::move(ended.operation));
    else
      keep(ended.definition, std::move(ended.operation));
    complete(completion, ended.word, status);
  }
  return moved;
}

void Served::look_for_silence(std::uint64_t now_ns, std::uint64_t stall_ns) noexcept {
  for (const UnderWay& one : under_way_)
    if (const ir::Rank silent = one.operation->unanswered(now_ns, stall_ns); silent >= 0)
      office_.suspect(silent);
}

bool Served::turn() try {
  const bool told = read_commands();
  if (network_ && under_way_.empty()) network_->progress();
  if (!retired_.empty() && !office_.still_reads()) retired_.clear();
  return go_on() || told;
} catch (...) {
  is_broken_ = true;
  throw;
}

}  // namespace hocket::worker
