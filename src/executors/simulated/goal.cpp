#include "executors/simulated/goal.hpp"

#include <cmath>
#include <span>

#include "base/error.hpp"

namespace hocket::executors::simulated {

namespace {

using Kind = Step::Kind;
using Label = std::uint64_t;

/// Dependencies say what the simulated executor does: what is done on the CPU keeps its order, messages are
/// taken at the end of their round, and a round begins when the one before has ended. Only starts of sends
/// are waited for inside a round, so that exchanges do not lock under a rendezvous protocol.
class Writer {
 public:
  Writer(const Trace& trace, Rank rank, Rank ranks, const Network& network)
      : trace_(trace), rank_(rank), ranks_(ranks), network_(network) {}

  std::string run() {
    text_ = "rank " + std::to_string(rank_) + " {\n";
    std::uint32_t begin = 0;
    for (const Round& round : trace_.rounds) {
      const std::span<const Step> steps(trace_.steps.data() + begin, round.end - begin);
      for (std::uint32_t i = 0; i < round.repeats; ++i) write_round(steps);
      begin = round.end;
    }
    return std::move(text_) + "}\n";
  }

 private:
  void write_round(std::span<const Step> steps) {
    pending_.clear();
    last_ = before_;
    last_is_send_ = false;
    for (const Step& step : steps)
      if (step.kind != Kind::recv) write_ordered(step);
    for (const Step& step : steps)
      if (step.kind == Kind::recv) write_recv(step);
    if (!last_is_send_ && last_ != before_) pending_.push_back(last_);
    before_ = join();
  }

  void write_ordered(const Step& step) {
    const bool is_send = step.kind == Kind::send;
    const Label label = line(is_send ? transfer("send", "to", step) : calc(step));
    after_last(label);
    if (is_send) pending_.push_back(label);
    last_ = label;
    last_is_send_ = is_send;
  }

  void write_recv(const Step& step) {
    const Label label = line(transfer("recv", "from", step));
    after_last(label);
    pending_.push_back(label);
  }

  /// One label that stands for the whole round.
  Label join() {
    if (pending_.empty()) return before_;
    if (pending_.size() == 1) return pending_.front();
    const Label label = line("calc 0");
    for (const Label each : pending_) depend(label, " requires ", each);
    return label;
  }

  Label line(const std::string& op) {
    text_ += "l" + std::to_string(++labels_) + ": " + op + "\n";
    return labels_;
  }

  void depend(Label label, const char* how, Label on) {
    text_ += "l" + std::to_string(label) + how + "l" + std::to_string(on) + "\n";
  }

  void after_last(Label label) {
    if (last_ != 0) depend(label, last_is_send_ ? " irequires " : " requires ", last_);
  }

  std::string transfer(const char* what, const char* direction, const Step& step) const {
    const auto peer = (std::int64_t{rank_} + step.distance) % ranks_;
    return std::string(what) + " " + std::to_string(step.amount) + "b " + direction + " " +
           std::to_string(peer) + " tag 0";
  }

  std::string calc(const Step& step) const {
    if (step.kind == Kind::aggregate || step.kind == Kind::settle)
      throw Error("GOAL knows messages only, and this schedule needs switches that reduce");
    if (step.kind != Kind::copy && step.kind != Kind::reduce)
      throw Error("GOAL knows messages only, and this schedule needs memory that ranks share");
    const double each = step.kind == Kind::copy ? network_.copy : network_.reduce;
    return "calc " + std::to_string(std::llround(static_cast<double>(step.amount) * each));
  }

  const Trace& trace_;
  Rank rank_, ranks_;
  const Network& network_;
  std::string text_;
  Label labels_ = 0;
  Label before_ = 0;  ///< stands for the rounds before; 0: there are none
  Label last_ = 0;    ///< what the next op of this round comes after
  bool last_is_send_ = false;
  std::vector<Label> pending_;  ///< what the round's end waits for
};

}  // namespace

std::string goal_of(const Trace& trace, Rank rank, Rank ranks, const Network& network) {
  if (trace.holds) throw Error("GOAL cannot hold a send until some of several messages have come");
  return Writer(trace, rank, ranks, network).run();
}

}  // namespace hocket::executors::simulated
