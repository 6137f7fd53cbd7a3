#include "transports/shm/channel.hpp"

namespace hocket::transports::shm {

Channel::Channel(std::byte* memory, Rank ranks, Rank rank, Waiting waiting) noexcept
    : header_(Layout(memory).header),
      areas_(Layout(memory).areas),
      own_(&areas_[rank]),
      ranks_(ranks),
      rank_(rank),
      waiting_(waiting) {
  waiting_.sleepers = &header_->sleepers;
}

Status Channel::judge(std::uint64_t word) const noexcept {
  if (word == expected_) return Status::ok;
  return static_cast<std::uint32_t>(word) == instance_ ? Status::mismatch : Status::pending;
}

Status Channel::wait_arrived(Rank peer) noexcept {
  // The futex word is the low half of the flag: the instance.
  static_assert(std::endian::native == std::endian::little);
  const std::atomic<std::uint64_t>& flag = line_of(peer).word;
  Patience patience(waiting_, peer);
  for (;;) {
    const std::uint64_t word = flag.load(std::memory_order_acquire);
    if (const Status now = judge(word); now != Status::pending) return now;
    if (const Status paused = patience.pause(&flag, static_cast<std::uint32_t>(word)); paused != Status::ok)
      return paused;
  }
}

bool Channel::ask_who_finished(std::uint32_t n) noexcept {
  std::uint32_t least = instance_;
  for (Rank r = 0; r < ranks_; ++r) {
    const std::uint32_t seen = areas_[r].finished.load(std::memory_order_acquire);
    if (static_cast<std::int32_t>(seen - least) < 0) least = seen;
    if (static_cast<std::int32_t>(n - seen) > 0) return false;
  }
  finished_by_all_ = least;
  return true;
}

Status Channel::wait_finished(std::uint32_t n) noexcept {
  std::uint32_t least = instance_ - 1;  // what this rank has finished itself
  for (Rank r = 0; r < ranks_; ++r) {
    if (r == rank_) continue;
    const std::atomic<std::uint32_t>& finished = areas_[r].finished;
    Patience patience(waiting_, r);
    std::uint32_t seen = finished.load(std::memory_order_acquire);
    while (static_cast<std::int32_t>(n - seen) > 0) {
      if (const Status paused = patience.pause(&finished, seen); paused != Status::ok) return paused;
      seen = finished.load(std::memory_order_acquire);
    }
    if (static_cast<std::int32_t>(seen - least) < 0) least = seen;
  }
  finished_by_all_ = least;
  return Status::ok;
}

}  // namespace hocket::transports::shm
