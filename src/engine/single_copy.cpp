#include "engine/single_copy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transports/cma/calibration.hpp"
#include "transports/cma/card.hpp"

namespace hocket::engine {

namespace cma = transports::cma;

namespace {

// A vote: what, in the lowest byte; then the errno and the rank that could not be read.
enum Vote : std::uint32_t { none = 0, yes = 1, does_not_pay = 2, cannot_read = 3 };

std::uint32_t vote_against(Rank peer, int error) {
  return cannot_read | (static_cast<std::uint32_t>(error) & 0xffU) << 8U |
         static_cast<std::uint32_t>(peer) << 16U;
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

bool SingleCopy::holds() noexcept {
  const std::uint32_t instance = channel_.instance() + 1;
  if (settled()) return agreed_;
  const bool first = stage_ == Stage::asleep;
  if (!first && !(may_change(instance) && all_have_finished_last_stage(instance))) return false;
  try {
    advance();
  } catch (...) {  // no memory for a measurement or a message: the vote is a no, or is cast already
  }
  next_ = instance + calls_between_stages;
  return agreed_;
}

/// Fails only when the communicator does: the call that follows waits for the same ranks and reports it.
bool SingleCopy::all_have_finished_last_stage(std::uint32_t instance) noexcept {
  return channel_.all_finished(instance - calls_between_stages) == Status::ok;
}

void SingleCopy::advance() {
  auto& vote = channel_.area_of(channel_.rank()).exposure.vote;
  switch (stage_) {
    case Stage::asleep:
      stage_ = Stage::published;
      return cma::publish_card(card_of(channel_.rank()));
    case Stage::published:
      stage_ = Stage::voted;
      vote.store(does_not_pay, std::memory_order_release);
      return vote.store(own_vote(), std::memory_order_release);
    case Stage::voted:
      stage_ = Stage::settled;
      return settle();
    case Stage::settled:
      return;
  }
}

std::uint32_t SingleCopy::own_vote() {
  for (Rank peer = 0; peer < channel_.ranks(); ++peer)
    if (const int error = cma::test_card(card_of(peer)); error != 0) return vote_against(peer, error);
  const bool measures = channel_.rank() == 0 && engine_.options().cma == "auto";
  return !measures || pays() ? yes : does_not_pay;
}

/// Rank 0 speaks for the node: what any member has measured before, for another communicator, or a
/// measurement now.
bool SingleCopy::pays() {
  cma::Verdict verdict = cma::Verdict::unknown;
  for (Rank peer = 0; peer < channel_.ranks() && verdict == cma::Verdict::unknown; ++peer)
    verdict = cma::noted_verdict(card_of(peer));
  if (verdict == cma::Verdict::unknown)
    verdict = cma::calibrate().pays() ? cma::Verdict::pays : cma::Verdict::does_not_pay;
  cma::note_verdict(card_of(0), verdict);
  return verdict == cma::Verdict::pays;
}

void SingleCopy::settle() {
  agreed_ = true;
  for (Rank r = 0; r < channel_.ranks(); ++r) {
    const std::uint32_t vote = channel_.area_of(r).exposure.vote.load(std::memory_order_acquire);
    if (vote == yes) continue;
    agreed_ = false;
    if (channel_.rank() == 0) note(reason(r, vote));
    return;
  }
}

/// In the report, once for all communicators that have the same reason.
void SingleCopy::note(const std::string& text) {
  const auto& notes = engine_.report().notes();
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) engine_.report().note(text);
}

std::string SingleCopy::reason(Rank rank, std::uint32_t vote) const {
  const std::string text = "ranks do not read each other's memory: ";
  if ((vote & 0xffU) != cannot_read)
    return text + "on this machine that is not faster than the staging buffers";
  return text + "rank " + std::to_string(rank) + " of a communicator cannot read rank " +
         std::to_string(vote >> 16U) + ": " + text_of(static_cast<int>(vote >> 8U & 0xffU));
}

std::vector<pid_t> SingleCopy::processes() const {
  std::vector<pid_t> all;
  for (Rank r = 0; r < channel_.ranks(); ++r) all.push_back(cma::pid_of(card_of(r)));
  return all;
}

std::string SingleCopy::explain(const cma::ReadFailure& failure) {
  return "the memory of rank " + std::to_string(failure.peer) + " cannot be read (" + text_of(failure.error) +
         "), though that was tested before; without such reads: HOCKET_CMA=off";
}

}  // namespace hocket::engine
