// What communicators on one node and over several have in common: they decide about calls of a kind once,
// look that up for each call, and repeat the last one without having it described anew.
#pragma once

#include "engine/call_kind.hpp"
#include "engine/communicator.hpp"
#include "engine/decision.hpp"

namespace hocket::engine {

/// Self has, beside what a communicator has:
///   Decision* decision_about(const Call&)                 looked up, or decided now; null: no memory
///   const Path& take_turn(Decision&)                      this call's path; it is numbered from now on
///   Outcome leave_to_mpi(const Path&, const Call&), follow(const Path&, const Call&)
///   bool failed()
/// It is no base of virtual functions: these are small parts of each call.
template <class Self>
class DecidingCommunicator : public Communicator {
 public:
  Outcome begin(const Call& call) noexcept final {
    Decision* decision = self().decision_about(call);
    last_ = nullptr;
    if (!decision || self().failed()) return Outcome::error;
    if (is_repeatable(call) && !decision->provisional) {
      last_ = decision;
      decision->call = call;
    }
    const Path& path = self().take_turn(*decision);
    return path.is_native() ? self().leave_to_mpi(path, call) : Outcome::ours;
  }

  Repeatable repeatable() const noexcept final {
    return last_ ? Repeatable{last_, last_->generation, last_->call.reduction} : Repeatable{};
  }

  Outcome repeat(const Repeatable& repeated, const void* input, void* output, bool in_place) noexcept final {
    Decision& decision = *repeated.decision;
    if (decision.generation != repeated.generation) return Outcome::forgotten;
    decision.call.input = input;
    decision.call.output = output;
    decision.call.in_place = in_place;
    decision.call.reduction =
        repeated.reduction;  // of the same operation, but maybe on another type of the same size
    if (self().failed()) [[unlikely]]
      return Outcome::error;
    const Path& path = self().take_turn(decision);
    return path.is_native() ? self().leave_to_mpi(path, decision.call) : self().follow(path, decision.call);
  }

 private:
  friend Self;
  DecidingCommunicator() = default;

  Self& self() noexcept { return static_cast<Self&>(*this); }

  Decision* last_ = nullptr;  ///< of the last begin(), if it can be repeated
};

}  // namespace hocket::engine
