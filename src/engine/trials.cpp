#include "engine/trials.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace hocket::engine {

using transports::shm::Channel;
using transports::shm::TrialNote;

namespace {

/// Another path must gain as much to replace the one that the rules chose.
constexpr std::uint64_t keep_percent = 3;
/// Who is as much slower than the best after the first series is not tried again.
constexpr std::uint64_t hopeless_percent = 50;
constexpr std::uint32_t rounds_left_out = 2;
/// A trial leaves its first note when whether begun_ was given by all can be asked.
static_assert(2 * Trial::rounds > transports::shm::Notice::most_calls);

TrialNote& note_of(Channel& channel, Rank rank, std::uint32_t serial) noexcept {
  return channel.area_of(rank).trials[serial % transports::shm::trial_notes];
}

}  // namespace

std::size_t Trial::next_path(Channel& channel) noexcept {
  trying_ = false;
  if (decided_) return winner_;
  if (rest_ > 0) {
    --rest_;
    return winner_;
  }
  if (is_series_over()) {
    if (noted_.is_due(channel)) judge(channel);
    return winner_;
  }
  if (series_ == 0 && tried_ == 0) begun_.give(channel);
  trying_ = true;
  return contender_[take_place()];
}

/// Every two rounds begin with another path, and the second is in reverse order: or a program's every second
/// or third call, slow for reasons of its own, would always meet the same path.
std::size_t Trial::take_place() noexcept {
  const std::size_t round = tried_ / contenders_;
  const std::size_t step = tried_ % contenders_;
  ++tried_;
  return ((round % 2 == 0 ? step : contenders_ - 1 - step) + round / 2) % contenders_;
}

void Trial::note(Channel& channel, std::size_t path, std::uint64_t ns) noexcept {
  trying_ = false;
  const std::size_t round = (tried_ - 1) / contenders_;
  times_[path][round] = static_cast<std::uint32_t>(std::min<std::uint64_t>(ns, ~0U));
  if (is_series_over()) leave_note(channel);
}

/// Without the slowest ones, which something else has delayed. Not the median: a program that makes every
/// other call slow would leave it to chance.
std::uint32_t Trial::sorted_mean_of(std::size_t path) noexcept {
  Times& times = times_[path];
  std::sort(times.begin(), times.end());
  const std::uint64_t sum = std::accumulate(times.begin(), times.end() - rounds_left_out, std::uint64_t{0});
  return static_cast<std::uint32_t>(sum / (rounds - rounds_left_out));
}

void Trial::leave_note(Channel& channel) noexcept {
  if (!begun_.given_by_all(channel)) return;
  auto& own = note_of(channel, channel.rank(), serial_).ns[series_];
  for (std::size_t i = 0; i < contenders_; ++i)
    own[contender_[i]].store(sorted_mean_of(contender_[i]), std::memory_order_release);
  noted_.give(channel);
}

void Trial::judge(Channel& channel) noexcept {
  if (!noted_.given_by_all(channel)) return;
  add_slowest(channel);
  winner_ = fastest();
  keep_contenders();
  decided_ = ++series_ == TrialNote::series || contenders_ == 1;
  tried_ = 0;
  rest_ = calls_between_series;
}

void Trial::add_slowest(Channel& channel) noexcept {
  for (std::size_t i = 0; i < contenders_; ++i) {
    const std::size_t path = contender_[i];
    std::uint32_t slowest = 0;
    for (Rank r = 0; r < channel.ranks(); ++r)
      slowest =
          std::max(slowest, note_of(channel, r, serial_).ns[series_][path].load(std::memory_order_acquire));
    slowest_ns_[path] += slowest;
  }
}

/// The path whose slowest rank is fastest.
std::size_t Trial::fastest() const noexcept {
  std::size_t best = contender_[0];
  for (std::size_t i = 1; i < contenders_; ++i) {
    const std::size_t path = contender_[i];
    const std::uint64_t handicap = best == 0 ? keep_percent : 0;
    if (slowest_ns_[path] * (100 + handicap) < slowest_ns_[best] * 100) best = path;
  }
  return best;
}

void Trial::keep_contenders() noexcept {
  const std::uint64_t limit = slowest_ns_[winner_] * (100 + hopeless_percent);
  const auto last = std::remove_if(contender_.begin(), contender_.begin() + contenders_,
                                   [&](std::uint8_t path) { return slowest_ns_[path] * 100 > limit; });
  contenders_ = static_cast<std::size_t>(last - contender_.begin());
}

namespace {
std::uint32_t size_class_of(std::size_t bytes) {
  return static_cast<std::uint32_t>(std::bit_width(bytes));
}
}  // namespace

Trial* Trials::find(Function function, std::size_t bytes, std::size_t paths) const noexcept {
  for (const auto& trial : trials_)
    if (trial->is_for(function, size_class_of(bytes), paths)) return trial.get();
  return nullptr;
}

Trial& Trials::of(Function function, std::size_t bytes, std::size_t paths) {
  if (Trial* known = find(function, bytes, paths)) return *known;
  const auto serial = static_cast<std::uint32_t>(trials_.size()) + 1;
  if (serial > transports::shm::trial_notes) {
    Trial& displaced = *trials_[serial - 1 - transports::shm::trial_notes];
    if (!displaced.is_decided()) displaced.give_up();
  }
  trials_.push_back(std::make_unique<Trial>(function, size_class_of(bytes), serial, paths));
  return *trials_.back();
}

}  // namespace hocket::engine
