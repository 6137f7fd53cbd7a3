#include "engine/trials.hpp"

#include <algorithm>
#include <bit>

namespace hocket::engine {

using transports::shm::Channel;
using transports::shm::TrialNote;

namespace {

constexpr std::uint32_t rounds = 5;  ///< every path is tried so often; the best time counts
constexpr std::uint32_t calls_until_told =
    8;  ///< see single_copy.hpp: then all have finished the last call of the trial
constexpr std::uint32_t keep_percent =
    5;  ///< another path must gain as much to replace the one that the rules chose
static_assert(calls_until_told >= Channel::finish_every);
// A note is overwritten by the trial_notes-th trial after it. Its calls alone take a rank further than it can
// be ahead of one that still reads.
static_assert(transports::shm::trial_notes * 2 * rounds > transports::shm::ring);

TrialNote& note_of(Channel& channel, Rank rank, std::uint32_t serial) noexcept {
  return channel.area_of(rank).trials[serial % transports::shm::trial_notes];
}

}  // namespace

std::size_t Trial::next_path(Channel& channel) noexcept {
  if (decided_) return winner_;
  if (calls_ < rounds * paths_) {
    trying_ = true;
    return calls_++ % paths_;
  }
  const std::uint32_t next = channel.instance() + 1;
  if (static_cast<std::int32_t>(next - told_at_ - calls_until_told) >= 0) read_notes(channel);
  return winner_;
}

void Trial::note(Channel& channel, std::size_t path, std::uint64_t ns) noexcept {
  trying_ = false;
  best_ns_[path] = std::min(best_ns_[path], static_cast<std::uint32_t>(std::min<std::uint64_t>(ns, ~0U - 1)));
  if (calls_ < rounds * paths_) return;
  TrialNote& own = note_of(channel, channel.rank(), serial_);
  for (std::size_t i = 0; i < paths_; ++i) own.best_ns[i].store(best_ns_[i], std::memory_order_release);
  told_at_ = channel.instance() +
             1;  // the note may be left after this rank has told that it finished the call itself
}

/// The path whose slowest rank is fastest.
void Trial::read_notes(Channel& channel) noexcept {
  if (channel.all_finished(told_at_) != Status::ok)
    return;  // the communicator has failed, as the call will find
  std::array<std::uint32_t, most_paths> slowest{};
  for (Rank r = 0; r < channel.ranks(); ++r) {
    TrialNote& theirs = note_of(channel, r, serial_);
    for (std::size_t i = 0; i < paths_; ++i)
      slowest[i] = std::max(slowest[i], theirs.best_ns[i].load(std::memory_order_acquire));
  }
  for (std::size_t i = 1; i < paths_; ++i) {
    const std::uint64_t gained =
        static_cast<std::uint64_t>(slowest[i]) * (100 + (winner_ == 0 ? keep_percent : 0));
    if (gained < static_cast<std::uint64_t>(slowest[winner_]) * 100) winner_ = i;
  }
  decided_ = true;
}

Trial& Trials::of(Function function, std::size_t bytes, std::size_t paths) {
  const auto size_class = static_cast<std::uint32_t>(std::bit_width(bytes));
  for (const auto& trial : trials_)
    if (trial->is_for(function, size_class, paths)) return *trial;
  const auto serial = static_cast<std::uint32_t>(trials_.size()) + 1;
  if (serial > transports::shm::trial_notes) {
    Trial& displaced = *trials_[serial - 1 - transports::shm::trial_notes];
    if (!displaced.is_decided()) displaced.give_up();
  }
  trials_.push_back(std::make_unique<Trial>(function, size_class, serial, paths));
  return *trials_.back();
}

}  // namespace hocket::engine
