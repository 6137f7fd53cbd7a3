#include "engine/handover/client.hpp"

#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/process_identity.hpp"
#include "transports/cma/card.hpp"

namespace hocket::engine::handover {
namespace {

/// Of the desks, one that is nobody's yet.
std::uint32_t within(const Desks& desks, std::uint32_t desk) {
  if (desk >= desks.count()) throw Error("the worker has no desk for local rank " + std::to_string(desk));
  if (!desks.has_worker()) throw Error("the worker has ended");
  if (desks.desk(desk).reach.load() != Reach::unknown)
    throw Error("the worker has served another process at this rank's desk");
  if (!desks.take_place(desk)) throw Error("another process has this rank's desk at the worker");
  return desk;
}

void pause() noexcept {
  sleep_ns(200'000);
}

}  // namespace

Client::Client(Desks desks, const Place& place)
    : desks_(std::move(desks)),
      desk_(desks_.desk(within(desks_, place.desk))),
      stall_ns_(static_cast<std::uint64_t>(place.stall_seconds * 1e9)),
      commands_(desk_.commands),
      unused_(most_under_way) {
  std::iota(unused_.rbegin(), unused_.rend(), 0U);
  introduce(place);
}

/// Where that cannot be told, the others hear that this rank has died, if they wait for it.
void Client::leave() noexcept {
  try_to_tell(Leave{static_cast<std::uint32_t>(desk_.rank)});
  const std::lock_guard lock(mutex_);
  broken_ = true;
}

bool Client::is_connected(double seconds) noexcept {
  for (const Deadline end(seconds); desks_.header().connected.load(std::memory_order_acquire) == 0; pause())
    if (end.passed() || !is_well()) return false;
  return true;
}

void Client::introduce(const Place& place) {
  desk_.rank = place.rank;
  transports::cma::publish_card(std::span(desk_.card));
  ring();
  for (const Deadline end(place.setup_seconds);
       desk_.reach.load(std::memory_order_acquire) == Reach::unknown;) {
    if (!is_well()) throw Error(trouble());
    if (end.passed()) throw Error("the worker has not answered in time");
    pause();
  }
  if (!is_well()) throw Error(trouble());
}

std::string Client::words() const {
  return {desk_.words.data(), strnlen(desk_.words.data(), desk_.words.size())};
}

std::span<const std::byte> Client::worker_address() const noexcept {
  const DesksHeader& header = desks_.header();
  return std::span(header.address).first(std::min<std::size_t>(header.address_bytes, header.address.size()));
}

std::string Client::why_alone() const {
  const auto& text = desks_.header().why_alone;
  return {text.data(), strnlen(text.data(), text.size())};
}

/// The worker sleeps when it has nothing to do.
void Client::ring() noexcept {
  desks_.ring();
}

bool Client::write(std::span<const std::byte> bytes) noexcept {
  constexpr std::uint32_t turns_per_look = 4096;
  for (std::uint32_t turn = 1; !bytes.empty(); ++turn) {
    const std::size_t written = commands_.write(bytes);
    bytes = bytes.subspan(written);
    if (written != 0) continue;
    ring();
    sched_yield();
    if (turn % turns_per_look == 0 && !is_well()) return false;
  }
  return true;
}

bool Client::tell(std::span<const std::byte> command) noexcept {
  const std::lock_guard lock(mutex_);
  if (broken_) return false;
  if (!write(command)) {
    broken_ = true;
    return false;
  }
  ring();
  return true;
}

bool Client::share_memory() {
  const std::lock_guard lock(sharing_);
  for (const SharedRange& range : shared_ranges()) {
    if (std::ranges::find(shared_, range) != shared_.end()) continue;
    shared_.push_back(range);
    if (!tell(encode(Share{range}))) return false;
  }
  return true;
}

std::optional<std::uint32_t> Client::take_completion() noexcept {
  const std::lock_guard lock(mutex_);
  if (unused_.empty()) return std::nullopt;
  const std::uint32_t taken = unused_.back();
  unused_.pop_back();
  completion(taken).store(0, std::memory_order_relaxed);
  return taken;
}

void Client::give_back(std::uint32_t completion) noexcept {
  const std::lock_guard lock(mutex_);
  unused_.push_back(completion);  // there is room: it has come from here
}

Client::Trouble Client::look() noexcept {
  if (!desks_.has_worker()) return Trouble::ended;
  if (desk_.reach.load(std::memory_order_acquire) == Reach::refused) return Trouble::given_up;
  const std::uint64_t pulse = desks_.header().pulse.load(std::memory_order_relaxed);
  const std::uint64_t now = monotonic_ns();
  if (pulse != pulse_ || pulse_seen_ns_ == 0) {
    pulse_ = pulse;
    pulse_seen_ns_ = now;
  }
  const bool is_late = stall_ns_ != 0 && now - pulse_seen_ns_ > stall_ns_;
  return is_late && !lacks_core(now) ? Trouble::stands_still : Trouble::none;
}

/// It would go on, but others are on its core: for how long is the system's decision. Who runs and has no
/// pulse is in a loop.
bool Client::lacks_core(std::uint64_t now) noexcept {
  constexpr std::uint64_t while_ns = 500'000'000;
  const Activity seen = activity_of(desks_.header().pid);
  if (seen.state != 'R') return false;
  const std::uint64_t passed = now - observed_.at_ns;
  if (passed < while_ns) return true;
  const bool has_run = passed < 4 * while_ns && seen.ran_ns - observed_.ran_ns > passed / 2;
  observed_ = {now, seen.ran_ns};
  return !has_run;
}

/// It must not go on one day, and write where nobody expects it any more.
void Client::end_worker() noexcept {
  const pid_t worker = desks_.header().pid;
  if (worker <= 1 || !desks_.has_worker() || kill(worker, SIGKILL) != 0) return;
  for (const Deadline end(1); desks_.has_worker() && !end.passed();) pause();
}

bool Client::is_well() noexcept {
  if (trouble_.load(std::memory_order_relaxed) != Trouble::none) return false;
  const std::unique_lock alone(looking_, std::try_to_lock);
  if (!alone) return true;
  const Trouble trouble = look();
  if (trouble == Trouble::stands_still) end_worker();
  trouble_.store(trouble, std::memory_order_relaxed);
  return trouble == Trouble::none;
}

std::string Client::trouble() const {
  const std::string who = "the worker process of this node (pid " + std::to_string(desks_.header().pid) + ")";
  switch (trouble_.load(std::memory_order_relaxed)) {
    case Trouble::stands_still:
      return who + " stood still: it was stopped, or is in a loop";
    case Trouble::given_up:
      return who + " has given this rank up: " +
             (desk_.error != 0 ? std::strerror(desk_.error) : "it did not understand a command");
    default:
      return who + " has ended";
  }
}

}  // namespace hocket::engine::handover
