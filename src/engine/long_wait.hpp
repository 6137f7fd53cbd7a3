// What is done about a wait for messages that takes long: whether the peer is still there is asked, and
// whether it has answered is looked at. One that does not answer may be busy; so that alone means nothing.
#pragma once

#include <algorithm>
#include <cstdint>

#include "transports/mpi/messages.hpp"

namespace hocket::engine {

class LongWait {
 public:
  using Rank = transports::mpi::Rank;
  using Messages = transports::mpi::Messages;

  /// Waits for one peer after the other begin anew.
  void go_on(Rank now_for, std::uint64_t now_waited_ns) noexcept {
    if (now_for != peer_ || now_waited_ns < waited_ns_) *this = {};
    peer_ = now_for;
    waited_ns_ = now_waited_ns;
  }
  Rank peer() const noexcept { return peer_; }
  std::uint64_t waited_ns() const noexcept { return waited_ns_; }

  /// Less and less often, since the peer keeps only so many questions, however many wait for it.
  void ask_if_late(Messages& messages) noexcept {
    if (waited_ns_ <= asks_after_ns_) return;
    asks_after_ns_ = 2 * waited_ns_;
    asked_ns_ = waited_ns_;
    answers_ = messages.answers_of(peer_);
    messages.ask(peer_);
  }
  /// The last question, for some time. Said now and then only: what follows takes the kernel some work.
  bool is_unanswered(Messages& messages) noexcept {
    constexpr std::uint64_t check_each_ns = 250'000'000;
    if (waited_ns_ < checks_after_ns_) return false;
    checks_after_ns_ = waited_ns_ + check_each_ns;
    return asked_ns_ != 0 && waited_ns_ - asked_ns_ >= check_each_ns &&
           messages.answers_of(peer_) == answers_;
  }

  /// For how long its machine has to be silent, where so much is too long for anything.
  static double proof_seconds(double stall_seconds) noexcept {
    constexpr double longest = 5;
    return std::min(stall_seconds / 3, longest);
  }

 private:
  Rank peer_ = -1;
  std::uint64_t waited_ns_ = 0;
  std::uint64_t asks_after_ns_ = 500'000'000;
  std::uint64_t asked_ns_ = 0;  ///< the last question, in time waited; 0: none yet
  std::uint32_t answers_ = 0;   ///< of the peer, by then
  std::uint64_t checks_after_ns_ = 0;
};

}  // namespace hocket::engine
