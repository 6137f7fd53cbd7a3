#include "executors/simulated/simulate.hpp"

#include <algorithm>
#include <deque>

#include "base/error.hpp"
#include "executors/simulated/aggregations.hpp"
#include "executors/simulated/links.hpp"
#include "executors/simulated/mailbox.hpp"
#include "executors/simulated/repeats.hpp"

namespace hocket::executors::simulated {

namespace {

using Kind = Step::Kind;

/// A clock, and how far the rank (the representative of its class) has come.
struct State {
  RankTime time;
  double way_out = 0, way_in = 0;  ///< when they are free
  std::uint32_t step = 0, round = 0, repeat = 0;
  bool receiving = false;  ///< at the end of a round
  Rank lacks = 0;          ///< blocked on a message from the rank that many places after
  Rank looked = 1;         ///< of a wait for everyone: the flags of ranks at smaller distances are there
  std::vector<Message> arrived;  ///< in this round
  std::vector<double> signals;   ///< when the steps 1, 2, ... were published
  std::vector<Rank> watchers;    ///< blocked on a signal of this rank
};

class Simulation {
 public:
  Simulation(const Classes& classes, const Network& network)
      : classes_(classes),
        network_(network),
        states_(static_cast<std::size_t>(classes.period)),
        links_(network, classes.ranks, classes.period),
        aggregations_(classes, network) {}

  Prediction run() {
    for (Rank c = 0; c < classes_.period; ++c) ready_.push_back(c);
    do run_ready();
    while (deliver_next());
    Prediction prediction{classes_.ranks, classes_.steps, {}};
    for (Rank c = 0; c < classes_.period; ++c) prediction.of_class.push_back(finished(c));
    if (!mail_.empty()) throw Error("a message is never received");
    return prediction;
  }

 private:
  void run_ready() {
    while (!ready_.empty()) {
      const Rank c = ready_.front();
      ready_.pop_front();
      while (advance(c, states_[c])) {
      }
    }
  }

  /// Whoever is ready has run as far as it can, so that nothing will come to a link earlier.
  bool deliver_next() {
    const auto passage = links_.next();
    if (passage) deliver(passage->to, passage->pair, passage->message);
    return passage.has_value();
  }

  const Trace& trace(Rank c) const { return classes_.trace(c); }
  const Round& round(Rank c) const { return trace(c).rounds[states_[c].round]; }
  std::uint32_t round_begin(Rank c) const {
    return states_[c].round == 0 ? 0 : trace(c).rounds[states_[c].round - 1].end;
  }

  std::int64_t place(Rank c, Rank distance) const { return std::int64_t{c} + distance; }
  Rank class_at(Rank c, Rank distance) const {
    return static_cast<Rank>(place(c, distance) % classes_.period);
  }
  Rank peer(Rank c, Rank distance) const { return static_cast<Rank>(place(c, distance) % classes_.ranks); }
  const Level& level(Rank c, Rank distance) const { return network_.between(c, peer(c, distance)); }
  std::uint64_t pair(Rank receiver, Rank distance_from_sender) const {
    return static_cast<std::uint64_t>(receiver) * static_cast<std::uint64_t>(classes_.ranks) +
           static_cast<std::uint64_t>(distance_from_sender);
  }

  const RankTime& finished(Rank c) const {
    if (states_[c].round < trace(c).rounds.size())
      throw Error("rank " + std::to_string(c) + " waits for ever in round " +
                  std::to_string(states_[c].round));
    return states_[c].time;
  }

  /// One step, or the end of one round. False if the rank has to wait, or has ended.
  bool advance(Rank c, State& s) {
    if (s.round == trace(c).rounds.size()) return false;
    if (s.receiving) return end_round(c, s);
    if (s.step == round(c).end) {
      s.receiving = true;
      s.step = round_begin(c);
      return true;
    }
    if (!execute(c, s, trace(c).steps[s.step])) return false;
    ++s.step;
    return true;
  }

  bool execute(Rank c, State& s, const Step& step) {
    switch (step.kind) {
      case Kind::copy:
        return spend(s, static_cast<double>(step.amount) * network_.copy);
      case Kind::reduce:
        return spend(s, static_cast<double>(step.amount) * network_.reduce);
      case Kind::send:
        return send(c, s, step);
      case Kind::recv:
      case Kind::settle:
        return true;  // what comes is taken at the end of the round
      case Kind::aggregate:
        return aggregate(c, s, step);
      case Kind::signal:
        return signal(c, s);
      case Kind::wait:
        return wait(c, s, step);
      case Kind::wait_everyone:
        return wait_everyone(c, s, step);
    }
    return false;
  }

  static bool spend(State& s, double ns) {
    s.time.finish += ns;
    s.time.busy += ns;
    return true;
  }

  bool send(Rank c, State& s, const Step& step) {
    const std::size_t far = network_.distance(c, peer(c, step.distance));
    const LogGP& p = network_.levels[far].at(step.amount);
    s.time.finish = std::max(s.time.finish, s.way_out);
    s.way_out = s.time.finish + p.gap(step.amount);
    const double leaves = s.time.finish + p.o;
    const Rank receiver = class_at(c, step.distance);
    const std::uint64_t to = pair(receiver, step.distance);
    spend(s, p.overhead(step.amount));
    if (links_.are_on_the_way(far))
      links_.enter({.at = leaves,
                    .pair = to,
                    .from = c,
                    .to = receiver,
                    .levels = static_cast<std::uint32_t>(far),
                    .message = {0, 0, step.amount, &p}});
    else
      deliver(receiver, to, {leaves + p.L, 0, step.amount, &p});
    return true;
  }

  /// As a message to the first switch.
  bool aggregate(Rank c, State& s, const Step& step) {
    const LogGP& p = network_.levels[network_.first_switch_level()].at(step.amount);
    s.time.finish = std::max(s.time.finish, s.way_out);
    s.way_out = s.time.finish + p.gap(step.amount);
    const double leaves = s.time.finish + p.o;
    spend(s, p.overhead(step.amount));
    aggregations_.give(c, step.distance, leaves, ready_);
    return true;
  }

  void deliver(Rank receiver, std::uint64_t to, const Message& message) {
    mail_.put(to, message);
    const auto distance = static_cast<Rank>(to % static_cast<std::uint64_t>(classes_.ranks));
    if (states_[receiver].lacks == classes_.ranks - distance) wake(receiver);
  }

  void wake(Rank c) {
    states_[c].lacks = 0;
    ready_.push_back(c);
  }

  /// Collects the messages of the round; when all are known, takes them in the order of their arrival.
  bool end_round(Rank c, State& s) {
    for (; s.step < round(c).end; ++s.step) {
      const Step& step = trace(c).steps[s.step];
      if (step.kind == Kind::recv && !collect(c, s, step)) return false;
      if (step.kind == Kind::settle && !settle(c, s, step)) return false;
    }
    std::ranges::stable_sort(s.arrived, {}, &Message::first_byte);
    for (const Message& message : s.arrived) take(s, message);
    s.arrived.clear();
    next_round(c, s);
    return true;
  }

  bool collect(Rank c, State& s, const Step& step) {
    const auto message = mail_.take(pair(c, classes_.ranks - step.distance));
    s.lacks = message ? 0 : step.distance;
    if (!message) return false;
    if (message->bytes != step.amount)
      throw Error("rank " + std::to_string(c) + " expects another size than it is sent");
    s.arrived.push_back(*message);
    return true;
  }

  bool settle(Rank c, State& s, const Step& step) {
    s.lacks = 0;
    const auto result = aggregations_.take(c, step.distance);
    if (result) s.arrived.push_back(*result);
    return result.has_value();
  }

  static void take(State& s, const Message& message) {
    const LogGP& p = *message.parameters;
    const double begin = std::max(message.first_byte, s.way_in);
    s.way_in = begin + p.gap(message.bytes);
    const double overhead = p.overhead(message.bytes);
    s.time.finish = std::max(std::max(s.time.finish, begin) + overhead,
                             std::max(begin + p.stretch(message.bytes), message.last_byte) + p.o);
    s.time.busy += overhead;
  }

  void next_round(Rank c, State& s) {
    s.receiving = false;
    s.step = round_begin(c);
    if (++s.repeat < round(c).repeats) return;
    s.step = round(c).end;
    s.repeat = 0;
    ++s.round;
  }

  bool signal(Rank c, State& s) {
    spend(s, network_.levels.front().at(0).o);
    s.signals.push_back(s.time.finish);
    for (const Rank watcher : s.watchers) ready_.push_back(watcher);
    states_[c].watchers.clear();
    return true;
  }

  /// When the step of the rank that many places after is seen here; negative if it is not reached yet.
  double seen(Rank c, Rank distance, std::uint64_t step) {
    const Level& near = level(c, distance);
    if (!near.shared_memory)
      throw Error("it needs memory that ranks share, and ranks " + std::to_string(c) + " and " +
                  std::to_string(peer(c, distance)) + " share none");
    State& peer = states_[class_at(c, distance)];
    if (step <= peer.signals.size()) return peer.signals[step - 1] + near.at(0).L;
    peer.watchers.push_back(c);
    return -1;
  }

  bool wait(Rank c, State& s, const Step& step) {
    const double there = seen(c, step.distance, step.amount);
    if (there < 0) return false;
    s.time.finish = std::max(s.time.finish, there);
    return spend(s, level(c, step.distance).at(0).o);
  }

  /// The flags of all others are looked at as they come; the last one may come late.
  bool wait_everyone(Rank c, State& s, const Step& step) {
    for (; s.looked < classes_.ranks; ++s.looked)
      if (seen(c, s.looked, step.amount) < 0) return false;
    s.looked = 1;
    double last = 0, work = 0;
    for (Rank distance = 1; distance < classes_.ranks; ++distance) {
      const double there = seen(c, distance, step.amount);
      const double o = level(c, distance).at(0).o;
      last = std::max(last, there + o);
      work += o;
    }
    s.time.busy += work;
    s.time.finish = std::max(s.time.finish + work, last);
    return true;
  }

  const Classes& classes_;
  const Network& network_;
  std::vector<State> states_;
  std::deque<Rank> ready_;
  Mailbox mail_;
  Links links_;
  Aggregations aggregations_;
};

}  // namespace

const RankTime& Prediction::slowest() const {
  return *std::ranges::max_element(of_class, {}, &RankTime::finish);
}

double Prediction::mean_busy() const {
  double sum = 0;
  for (const RankTime& time : of_class) sum += time.busy;
  return sum / static_cast<double>(of_class.size());
}

Prediction simulate(const Classes& classes, const Network& network) {
  return Simulation(classes, network).run();
}

Prediction simulate(Rank ranks, const ScheduleOf& schedule_of, std::uint64_t bytes, const Network& network,
                    std::uint64_t most) {
  network.check(ranks);
  const Classes classes = classify(ranks, schedule_of, bytes, network, most);
  return classes.steps <= most ? simulate(classes, network) : extrapolate(classes, network, most);
}

}  // namespace hocket::executors::simulated
