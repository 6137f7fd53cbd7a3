#include "engine/single_copy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transports/cma/calibration.hpp"
#include "transports/cma/card.hpp"
#include "transports/shm/lane.hpp"

namespace hocket::engine {

namespace cma = transports::cma;
using cma::Gain;

namespace {

// A vote: what, in the lowest byte; then the gain, or the errno and the rank that could not be read.
enum Vote : std::uint32_t { none = 0, reads = 1, cannot_read = 2 };

std::uint32_t vote_for(Gain gain) {
  return reads | static_cast<std::uint32_t>(gain) << 8U;
}

std::uint32_t vote_against(Rank peer, int error) {
  return cannot_read | (static_cast<std::uint32_t>(error) & 0xffU) << 8U |
         static_cast<std::uint32_t>(peer) << 16U;
}

bool can_read(std::uint32_t vote) {
  return (vote & 0xffU) == reads;
}

Gain gain_in(std::uint32_t vote) {
  return can_read(vote) ? static_cast<Gain>(vote >> 8U) : Gain::none;
}

/// What single copy saves. In scatter and alltoall each block is copied in, and out again by its one reader.
/// Otherwise copies in are shared by many readers, or made by many ranks at once while one copies out.
Gain needed_by(ir::Collective c) {
  return c == ir::Collective::scatter || c == ir::Collective::alltoall ? Gain::over_two_copies
                                                                       : Gain::over_one_copy;
}

/// A bcast to one rank of what is staged in one piece: nothing is copied in while the piece before is copied
/// out, and the root writes where the reader's cache still holds the last one.
bool is_one_piece_for_one(const SingleCopy::OnLane& call) {
  return call.collective == ir::Collective::bcast && call.ranks == 2 &&
         call.bytes < transports::shm::Lane::staging_area_bytes;
}

/// Of operations that ranks go on with at times of their own. Where each block has one reader, single copy
/// takes a copy and the hand-overs of segments from them, which the calibration does not see.
Gain needed_on_lane_by(const SingleCopy::OnLane& call) {
  const Gain needed = needed_by(call.collective);
  return needed == Gain::over_two_copies || is_one_piece_for_one(call) ? Gain::readable : needed;
}

bool moves_data_only(ir::Collective c) {
  return !ir::is_reduction(c) && c != ir::Collective::barrier;
}

std::string text_of(int error) {
  if (error == EXDEV) return "it is in another PID namespace";
  if (error == ENOMSG) return "it is not the process that its number names";
  return std::string("process_vm_readv: ") + std::strerror(error);
}

}  // namespace

bool SingleCopy::concerns(const tuning::Situation& s) const noexcept {
  const std::string& wish = engine_.options().cma;
  return wish != "off" && moves_data_only(s.collective) && s.ranks > 1 && s.sizes_known && s.equal_blocks &&
         (wish == "on" || s.bytes >= least_single_copy_bytes);
}

bool SingleCopy::suffices(Gain gain, ir::Collective collective) noexcept {
  return gain >= needed_by(collective);
}

bool SingleCopy::suffices_on_lane(Gain gain, const OnLane& call) noexcept {
  return gain >= needed_on_lane_by(call);
}

bool SingleCopy::holds(ir::Collective collective) {
  const bool is_due = !settled() && last_stage_.is_due(channel_) && last_stage_.given_by_all(channel_);
  if (stage_ == Stage::asleep || is_due) {
    advance();
    last_stage_.give(channel_);
  }
  return suffices(agreed_, collective);
}

void SingleCopy::advance() {
  auto& vote = channel_.area_of(channel_.rank()).vote.word;
  switch (stage_) {
    case Stage::asleep:
      stage_ = Stage::published;
      return cma::publish_card(card_of(channel_.rank()));
    case Stage::published:
      stage_ = Stage::voted;
      return vote.store(own_vote(), std::memory_order_release);
    case Stage::voted:
      stage_ = Stage::settled;
      return settle();
    case Stage::settled:
      return;
  }
}

std::uint32_t SingleCopy::vote_when_possible() const noexcept {
  cma::publish_card(card_of(channel_.rank()));
  for (Rank peer = 0; peer < channel_.ranks(); ++peer)
    if (!cma::is_published(card_of(peer))) return 0;
  try {
    return own_vote();
  } catch (...) {  // no memory to measure: nothing is known to be gained
    return vote_for(Gain::readable);
  }
}

std::uint32_t SingleCopy::own_vote() const {
  for (Rank peer = 0; peer < channel_.ranks(); ++peer)
    if (const int error = cma::test_card(card_of(peer)); error != 0) return vote_against(peer, error);
  const bool measures = channel_.rank() == 0 && engine_.options().cma == "auto";
  return vote_for(measures ? std::max(measured_gain(), Gain::readable) : Gain::over_one_copy);
}

/// Rank 0 speaks for the node: what any member has measured before, for another communicator, or a
/// measurement now.
Gain SingleCopy::measured_gain() const {
  return cma::node_gain(cards(), card_of(0));
}

/// The least of what the ranks voted for.
void SingleCopy::settle() {
  agreed_ = Gain::over_one_copy;
  possible_ = true;
  for (Rank r = 0; r < channel_.ranks(); ++r) {
    const std::uint32_t vote = channel_.area_of(r).vote.word.load(std::memory_order_acquire);
    agreed_ = std::min(agreed_, gain_of(r, vote));
    possible_ = possible_ && can_read(vote);
  }
}

Gain SingleCopy::gain_of(Rank rank, std::uint32_t vote) const noexcept {
  const Gain gain = gain_in(vote);
  if (gain > Gain::readable || channel_.rank() != 0) return gain;
  try {
    engine_.report().note(reason(rank, vote));
  } catch (...) {  // no memory: not worth an error, the report says less
  }
  return gain;
}

std::string SingleCopy::reason(Rank rank, std::uint32_t vote) const {
  if (can_read(vote))
    return "ranks read each other's memory in non-blocking and persistent calls whose blocks have one "
           "reader, elsewhere only where a trial finds that faster: measured alone, it is not faster than "
           "the staging buffers on this machine";
  return "ranks do not read each other's memory: rank " + std::to_string(rank) +
         " of a communicator cannot read rank " + std::to_string(vote >> 16U) + ": " +
         text_of(static_cast<int>(vote >> 8U & 0xffU));
}

std::vector<cma::CardMemory> SingleCopy::cards() const {
  std::vector<cma::CardMemory> cards;
  for (Rank r = 0; r < channel_.ranks(); ++r) cards.push_back(card_of(r));
  return cards;
}

cma::PeerMemory SingleCopy::peers() const {
  return {cards(), channel_.rank()};
}

std::optional<std::size_t> least_loan(const std::string& wish) noexcept {
  if (wish == "off") return std::nullopt;
  return wish == "on" ? 1 : least_single_copy_bytes;
}

void SingleCopy::report(const cma::ReadFailure& failure, Guard& guard, std::uint32_t call) noexcept {
  if (failure.error == ESRCH && guard.fail_with_dead(failure.peer, call)) return;
  try {
    guard.fail(call, Status::failed, explain(failure));
  } catch (...) {  // no memory for the explanation
    guard.fail(call, Status::failed);
  }
}

std::string SingleCopy::explain(const cma::ReadFailure& failure) {
  return "the memory of rank " + std::to_string(failure.peer) + " cannot be read (" + text_of(failure.error) +
         "), though that was tested before; without such reads: HOCKET_CMA=off";
}

}  // namespace hocket::engine
