#include "engine/aggregation/relay.hpp"

namespace hocket::engine::aggregation {

using transports::Piece;
using transports::Transfer;

namespace {
constexpr std::uint32_t signature = 1;  // as of all messages among members
}

Relay::Relay(transports::mpi::Network& network, const transports::mpi::CommunicatorId& id,
             std::span<const Rank> members, Rank rank)
    : rank_(rank),
      ranks_(static_cast<Rank>(members.size())),
      messages_(network, id, members, false),
      late_messages_(network, id, members, false),
      late_data_(most_bytes) {}

void Relay::Message::lay(Rank peer, std::span<std::byte> data) noexcept {
  pieces = {Piece{reinterpret_cast<std::byte*>(&word), sizeof word}, Piece{data.data(), data.size()}};
  transfer = Transfer{};
  transfer.peer = peer;
  transfer.pieces = pieces;
  transfer.total = sizeof word + data.size();
}

void Relay::begin(std::uint32_t number, std::span<std::byte> result, bool has) noexcept {
  number_ = number;
  result_ = result;
  has_result_ = has;
  step_ = Step::take_in_last;
}

void Relay::begin_words() noexcept {
  messages_.begin(number_, signature, {});
  awaits_verdict_ = false;
  outcome_ = Outcome::result;
  step_ = Step::is_over;
  if (has_result_) {
    late_ = {1, result_.size()};
    late_messages_.begin(number_, signature, {});
    late_heard_.lay(before(), std::span(late_data_).first(late_.bytes));
    return say(Word::result);
  }
  if (rank_ != 0) return hear();
  awaits_verdict_ = true;
  say(Word::lacking);
}

void Relay::say(Word word) noexcept {
  said_.word = word;
  said_.lay(after(), result_);
  step_ = step_ == Step::hear_verdict ? Step::say_verdict : Step::say;
}

void Relay::hear() noexcept {
  heard_.lay(before(), result_);
  step_ = Step::hear;
}

/// The first word of the member before, to one that lacks the result.
void Relay::heard() noexcept {
  if (rank_ == 0) {  // all around: this is the verdict
    step_ = Step::hear_verdict;
    return heard_verdict();
  }
  awaits_verdict_ = heard_.word == Word::lacking;
  say(heard_.word);
}

/// Member 0 waits for none.
void Relay::heard_verdict() noexcept {
  const bool nobody = heard_.word != Word::result;
  outcome_ = nobody ? Outcome::nobody_has_it : Outcome::result;
  say(nobody ? Word::nobody : Word::result);
  if (after() == 0) step_ = Step::is_over;
}

Status Relay::advance() noexcept {
  if (step_ == Step::take_in_last) {
    if (const Status status = take_in_last(); status != Status::ok) return status;
    begin_words();
  }
  messages_.take_in();
  while (step_ != Step::is_over) {
    const bool hears = step_ == Step::hear || step_ == Step::hear_verdict;
    const Status status =
        hears ? messages_.advance_recv(heard_.transfer) : messages_.advance_send(said_.transfer);
    if (status != Status::ok) return status;
    next_step();
  }
  return Status::ok;
}

void Relay::next_step() noexcept {
  switch (step_) {
    case Step::hear:
      return heard();
    case Step::hear_verdict:
      return heard_verdict();
    case Step::say:
      if (!awaits_verdict_) break;
      hear();
      if (rank_ != 0) step_ = Step::hear_verdict;
      return;
    default:
      break;
  }
  step_ = Step::is_over;
}

/// What came late of the last operation that went well; pending, until it has come. A member that lacked the
/// result has said so first, and then what it has heard.
Status Relay::take_in_last() noexcept {
  if (late_.messages == 0) return Status::ok;
  late_messages_.take_in();
  while (late_.messages != 0) {
    const Status status = late_messages_.advance_recv(late_heard_.transfer);
    if (status != Status::ok) return status;
    --late_.messages;
    if (late_heard_.word != Word::lacking) continue;
    ++late_.messages;
    late_heard_.lay(before(), std::span(late_data_).first(late_.bytes));
  }
  return Status::ok;
}

void Relay::abandon() noexcept {
  messages_.abandon();
  late_messages_.abandon();
  step_ = Step::is_over;
  late_ = {};
}

}  // namespace hocket::engine::aggregation
