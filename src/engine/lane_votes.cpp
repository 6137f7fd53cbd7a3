#include "engine/lane_votes.hpp"

#include <algorithm>

namespace hocket::engine {

using transports::cma::Gain;
using transports::shm::Instance;

namespace {

bool is_before(std::uint32_t one, std::uint32_t other) {
  return static_cast<std::int32_t>(one - other) < 0;
}

}  // namespace

void LaneVotes::give_before(std::uint32_t number) noexcept {
  if (given_) return;
  const std::uint32_t word = single_copy_.vote_when_possible();
  if (word == 0) {
    if (!unvoted_ || is_before(*unvoted_, number)) unvoted_ = number;
    return;
  }
  const bool follows = !unvoted_ || is_before(*unvoted_, number);
  transports::shm::Vote& own = lane_.own_area().vote;
  own.since.store(follows ? number : *unvoted_ + 1, std::memory_order_relaxed);
  own.word.store(word, std::memory_order_release);
  given_ = true;
}

std::optional<Gain> LaneVotes::gain_in(const Instance& instance) noexcept {
  if (counted_) return is_before(instance.number(), since_) ? Gain::none : *counted_;
  if (instance.missing_peer()) return std::nullopt;
  return count(instance.number());
}

Gain LaneVotes::count(std::uint32_t number) noexcept {
  Gain least = Gain::over_one_copy;
  std::uint32_t since = lane_.own_area().vote.since.load(std::memory_order_relaxed);
  for (Rank r = 0; r < lane_.ranks(); ++r) {
    const transports::shm::Vote& vote = lane_.area_of(r).vote;
    const std::uint32_t word = vote.word.load(std::memory_order_acquire);
    const std::uint32_t from = vote.since.load(std::memory_order_relaxed);
    if (word == 0 || is_before(number, from)) return Gain::none;
    least = std::min(least, single_copy_.gain_of(r, word));
    if (is_before(since, from)) since = from;
  }
  counted_ = least;
  since_ = since;
  return least;
}

}  // namespace hocket::engine
