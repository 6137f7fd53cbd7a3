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

Relay::~Relay() {
  for (; lates_ != 0; --lates_) {
    late_messages_.drop(before());
    first_late_ = (first_late_ + 1) % most_late;
    if (lates_ > 1) begin_late();
  }
}

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
  asks_ = false;
  step_ = Step::make_room;
}

void Relay::begin_words() noexcept {
  messages_.begin(number_, signature, {});
  awaits_verdict_ = false;
  outcome_ = Outcome::result;
  step_ = Step::is_over;
  if (has_result_) {
    expect_late(number_);
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

/// What goes well asks the MPI for nothing: each time that may yield the core.
Status Relay::advance() noexcept {
  if (step_ == Step::make_room) {
    if (const Status status = make_room(); status != Status::ok) return status;
    begin_words();
  }
  if (asks_) messages_.take_in();
  while (step_ != Step::is_over) {
    const bool hears = step_ == Step::hear || step_ == Step::hear_verdict;
    const Status status =
        hears ? messages_.advance_recv(heard_.transfer) : messages_.advance_send(said_.transfer);
    asks_ = status == Status::pending;
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

void Relay::expect_late(std::uint32_t number) noexcept {
  late(lates_++) = {number, result_.size()};
  if (lates_ == 1) begin_late();
}

void Relay::begin_late() noexcept {
  late_messages_.begin(late(0).number, signature, {});
  late_heard_.lay(before(), std::span(late_data_).first(late(0).bytes));
}

/// Takes in half of what came late of operations that went well, once there is much of it; pending, until it
/// has come. A member that lacked the result has said so first, and then what it has heard.
Status Relay::make_room() noexcept {
  if (lates_ < most_late && !asks_) return Status::ok;
  late_messages_.take_in();
  while (lates_ > most_late / 2) {
    const Status status = late_messages_.advance_recv(late_heard_.transfer);
    asks_ = status == Status::pending;
    if (status != Status::ok) return status;
    if (late_heard_.word == Word::lacking) {
      late_heard_.lay(before(), std::span(late_data_).first(late(0).bytes));
      continue;
    }
    first_late_ = (first_late_ + 1) % most_late;
    --lates_;
    begin_late();
  }
  return Status::ok;
}

void Relay::abandon() noexcept {
  messages_.abandon();
  late_messages_.abandon();
  step_ = Step::is_over;
  lates_ = 0;
}

}  // namespace hocket::engine::aggregation
