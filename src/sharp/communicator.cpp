#include "sharp/communicator.hpp"

#include <string.h>

#include <algorithm>
#include <set>
#include <string>

#include "sharp/context.hpp"
#include "sharp/speech.hpp"
#include "sharp/tree.hpp"

namespace hocket::sharp {

namespace {

/// The numbers are the same.
int sharp_error(wire::Error error) noexcept {
  return static_cast<int>(error);
}

wire::FrameHead head_of(wire::FrameKind kind, std::uint32_t group) noexcept {
  wire::FrameHead head;
  head.kind = kind;
  head.group = group;
  return head;
}

}  // namespace

Communicator::Communicator(Context& context, Tree& tree, const Terms& terms, const Place& place)
    : context_(context),
      tree_(tree),
      statistics_(context.statistics()),
      terms_(terms),
      place_(place),
      operations_(place.group, terms.operations_per_group, tree.welcome().window),
      lock_(terms.lock_batch) {
  tree_.add(*this);
}

Communicator::~Communicator() {
  if (!is_idle()) give_up();
  if (!is_dead()) tree_.say(head_of(wire::FrameKind::leave, group()));
  tree_.remove(*this);
}

void Communicator::join(std::uint64_t job) {
  wire::Join join;
  join.group = group();
  join.job = job;
  join.size = static_cast<std::uint32_t>(size());
  join.ranks = 1;
  join.lowest = static_cast<std::uint32_t>(rank());
  tree_.say(head_of(wire::FrameKind::join, group()), std::as_bytes(std::span(&join, 1)));
}

void Communicator::ask_for_lock() {
  if (!lock_.is_free()) return;
  ++statistics_.locks_asked;
  lock_.ask();
  if (refuses_locks_)
    lock_.take(wire::Error::lock_taken);
  else if (has_been_left_)
    fail(SHARP_COLL_ERROR);
  else
    tree_.say(head_of(wire::FrameKind::lock, group()));
}

std::optional<int> Communicator::verdict_on_joining() const noexcept {
  if (is_dead() || has_joined_) return error_;
  return std::nullopt;
}

std::optional<int> Communicator::verdict_on_lock() noexcept {
  if (is_dead()) return error_;
  if (lock_.is_asked()) return std::nullopt;
  return sharp_error(lock_.take_refusal().value_or(wire::Error::none));
}

int Communicator::post(std::unique_ptr<Request>& request) {
  if (is_dead()) return error_;
  ++statistics_.requests;
  statistics_.bytes += request->bytes();
  request->communicator = this;
  waiting_.push_back(request.get());
  request.release();  // NOLINT(bugprone-unused-return-value): waiting_ has it
  start_waiting();
  tree_.send();
  return SHARP_COLL_SUCCESS;
}

void Communicator::start_waiting() {
  while (!waiting_.empty()) {
    Request& request = *waiting_.front();
    if (has_been_left_ && needs_tree(request)) return fail(SHARP_COLL_ERROR);
    const Decision decision = decide(request);
    if (decision == Decision::later) return;
    while (decision == Decision::made && !request.is_started() && operations_.has_room(request.streams))
      start_next_part(request);
    if (decision == Decision::made && !request.is_started()) return;
    waiting_.pop_front();
    if (decision == Decision::refused)
      end(request, request.refusal);
    else if (request.running == 0)
      end(request, Request::done);  // it had no bytes
  }
}

Communicator::Decision Communicator::decide(Request& request) {
  if (request.is_decided) return Decision::made;
  request.is_decided = true;
  if (!wants_to_stream(request)) return Decision::made;
  if (!lock_.is_refused()) ask_for_lock();
  if (const std::optional<wire::Error> refusal = lock_.take_refusal()) {
    if (request.mode == SHARP_AGGREGATION_NONE) return Decision::made;  // it was our choice: then in pieces
    request.refusal = sharp_error(*refusal);
    return Decision::refused;
  }
  request.streams = request.is_decided = lock_.begin_operation();
  return request.is_decided ? Decision::made : Decision::later;
}

/// Not without bytes, nor where it is refused on this side.
bool Communicator::needs_tree(const Request& request) const noexcept {
  return !request.is_started() && !(refuses_locks_ && request.mode == SHARP_AGGREGATION_STREAMING);
}

bool Communicator::wants_to_stream(const Request& request) const noexcept {
  if (request.mode == SHARP_AGGREGATION_STREAMING) return true;
  return request.mode == SHARP_AGGREGATION_NONE && terms_.streams != 0 && request.bytes() > 0 &&
         request.bytes() >= terms_.streaming_from;
}

void Communicator::start_next_part(Request& request) {
  const Part& whole = request.parts[request.part];
  const std::size_t element = request.reduction.element_size();
  const std::uint64_t rest = whole.bytes - request.offset;
  const std::uint64_t length =
      request.streams ? rest : std::min<std::uint64_t>(rest, terms_.payload / element * element);
  operations_.start(request, whole.piece(request.offset, length), request.streams);
  ++(request.streams ? statistics_.streams : statistics_.datagram_pieces);
  request.offset += length;
  if (request.offset < whole.bytes) return;
  ++request.part;
  request.offset = 0;
}

void Communicator::landed(std::uint32_t operation, std::uint64_t up_to) {
  Request* const request = operations_.over(operation, up_to);
  if (!request) return;
  if (request->is_started() && request->running == 0) end(*request, Request::done);
  start_waiting();
}

void Communicator::end(Request& request, int how) noexcept {
  if (request.streams && lock_.end_operation()) tree_.say(head_of(wire::FrameKind::unlock, group()));
  if (how != Request::done) ++statistics_.failed;
  request.end(how);
}

void Communicator::joined(wire::Error verdict) noexcept {
  has_joined_ = true;
  error_ = sharp_error(verdict);  // then there is no group to leave
}

void Communicator::locked(wire::Error verdict) {
  if (verdict != wire::Error::none) ++statistics_.locks_refused;
  lock_.take(verdict);
  start_waiting();
}

void Communicator::lost(const wire::Failure& failure) noexcept {
  if (failure.error == wire::Error::none && is_idle() && !lock_.is_asked()) {
    has_been_left_ = true;  // which is for who needs the others to hear
    return;
  }
  const int error = failure.error == wire::Error::none ? SHARP_COLL_ERROR : sharp_error(failure.error);
  const std::string words(failure.words.data(), strnlen(failure.words.data(), failure.words.size()));
  if (!is_dead() && !context_.hides_errors()) say_error("a communicator", error, words.c_str());
  fail(error);
}

void Communicator::give_up() {
  if (is_dead()) return;
  const wire::Failure failure;
  fail(SHARP_COLL_ERROR);
  tree_.say(head_of(wire::FrameKind::failed, group()), std::as_bytes(std::span(&failure, 1)));
}

void Communicator::fail(int error) noexcept {
  if (is_dead()) return;
  error_ = error;
  tree_.keep(group());
  std::set<Request*> requests = operations_.give_up();
  requests.insert(waiting_.begin(), waiting_.end());
  waiting_.clear();
  statistics_.failed += requests.size();
  for (Request* const request : requests) request->end(error);
}

}  // namespace hocket::sharp
