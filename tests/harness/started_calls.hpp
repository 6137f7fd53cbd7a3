// Non-blocking operations of a rank under way at the same time, checked as they end.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "engine/communicator.hpp"
#include "harness/calls.hpp"

namespace hocket::harness {

/// An operation under way: its buffers, and what is left of it.
struct StartedCall {
  CallData data;
  engine::Prepared* prepared;
  engine::Outstanding* operation;
  std::string name;

  StartedCall(const CallPlan& plan, ir::Rank rank, engine::Communicator& communicator)
      : data(plan, rank),
        prepared(communicator.prepare(data.call(), engine::Form::nonblocking)),
        operation(nullptr) {
    name = std::string(engine::name_of(plan.function)) + " root " + std::to_string(plan.root) + " in_place " +
           std::to_string(plan.in_place) + " count " + std::to_string(plan.counts[0]) + ": ";
    if (!prepared) throw std::runtime_error(name + communicator.error());
    if (prepared->is_native()) return;
    operation = communicator.start(*prepared, data.call());
    if (!operation) throw std::runtime_error(name + communicator.error());
    ++prepared->users;
  }

  /// True: it has ended, with the right result.
  bool advance(engine::Communicator& communicator) {
    const Status status = operation->advance();
    if (status == Status::pending) return false;
    if (status != Status::ok) fail(status, communicator);
    if (const std::string wrong = data.check(); !wrong.empty()) throw std::runtime_error(name + wrong);
    operation->release();
    --prepared->users;
    return true;
  }

  /// As who waits for it does, after advance(): finds ranks that are in other calls, or have given up.
  void look(engine::Communicator& communicator, std::uint64_t waited_ns) {
    transports::Watch* watch = operation->waiting().watch;
    if (!watch) return;
    const Status status = watch->look(operation->blocker().peer, waited_ns);
    if (status != Status::ok) fail(status, communicator);
  }

 private:
  [[noreturn]] void fail(Status status, const engine::Communicator& communicator) {
    operation->fail(status);
    throw std::runtime_error(name + communicator.error());
  }
};

/// What one rank has under way. Which of it goes on is this rank's own dice.
class StartedCalls {
 public:
  StartedCalls(engine::Communicator& communicator, std::uint64_t seed)
      : communicator_(communicator), dice_(seed) {}

  /// Throws std::runtime_error, as the others do, with the communicator's error or what is wrong with the
  /// data. False: left to the MPI.
  bool start(const CallPlan& plan, ir::Rank rank) {
    running_.push_back(std::make_unique<StartedCall>(plan, rank, communicator_));
    if (running_.back()->operation) return true;
    running_.pop_back();
    return false;
  }
  bool is_empty() const { return running_.empty(); }

  void advance_some() {
    for (std::uint64_t n = dice_() % 8; n > 0 && !is_empty(); --n) advance_one();
    if (dice_() % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(dice_() % 300));
    if (dice_() % 4 == 0) std::this_thread::yield();
  }
  void finish() {
    constexpr std::uint64_t too_long_ns = 60'000'000'000;
    std::uint64_t begun = monotonic_ns();
    for (std::size_t before = running_.size(); !is_empty();) {
      if (std::exchange(before, running_.size()) != running_.size()) begun = monotonic_ns();
      const std::uint64_t waited_ns = monotonic_ns() - begun;  // while none has ended
      if (waited_ns > too_long_ns)
        throw std::runtime_error(running_.front()->name + "never ends; " + std::to_string(running_.size()) +
                                 " are under way");
      StartedCall* const pending = advance_one();
      if (pending && is_time_to_look()) pending->look(communicator_, waited_ns);
      advance_some();
    }
  }

 private:
  /// Once per millisecond, as waits do: looks may send messages.
  bool is_time_to_look() {
    constexpr std::uint64_t between_ns = 1'000'000;
    const std::uint64_t now = monotonic_ns();
    if (now - looked_ns_ < between_ns) return false;
    looked_ns_ = now;
    return true;
  }
  /// Null: it has ended.
  StartedCall* advance_one() {
    const auto which = running_.begin() + static_cast<std::ptrdiff_t>(dice_() % running_.size());
    if (!(*which)->advance(communicator_)) return which->get();
    running_.erase(which);
    return nullptr;
  }

  engine::Communicator& communicator_;
  std::mt19937_64 dice_;
  std::deque<std::unique_ptr<StartedCall>> running_;
  std::uint64_t looked_ns_ = 0;
};

}  // namespace hocket::harness
