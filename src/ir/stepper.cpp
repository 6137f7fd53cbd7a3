#include "ir/stepper.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "base/error.hpp"

namespace hocket::ir {

namespace {

class Stepper {
 public:
  Stepper(const Program& program, Actions& actions)
      : program_(program),
        actions_(actions),
        ranks_(program.ranks()),
        posted_(program.messages()),
        started_(program.aggregations()) {}

  void run() {
    while (sweep([](Rank r) { return r; }, [] { return std::numeric_limits<unsigned>::max(); })) {
    }
    report_deadlock();
  }

  void run_interleaved(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Rank> order(ranks_.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      std::ranges::shuffle(order, random);
    } while (
        sweep([&](Rank i) { return order[i]; }, [&] { return 1 + static_cast<unsigned>(random() % 3); }));
    report_deadlock();
  }

 private:
  struct State {
    std::uint32_t op = 0;
    std::uint32_t round = 0;
    std::uint32_t reached = 0;  ///< last step signalled
    bool offered = false;       ///< the round's transfers are offered to their other sides
  };
  struct Posted {
    bool send = false, recv = false;
    bool both() const { return send && recv; }
  };

  /// Visits every rank once, for at most patience() steps. False if nobody could move.
  template <class Order, class Patience>
  bool sweep(Order rank_at, Patience patience) {
    bool progress = false;
    for (Rank i = 0; i < program_.ranks(); ++i)
      for (unsigned left = patience(); left > 0 && advance(rank_at(i)); --left) progress = true;
    return progress;
  }

  bool ended(Rank r) const { return ranks_[r].round == program_.of(r).rounds.size(); }
  std::uint32_t round_begin(Rank r) const {
    return ranks_[r].round == 0 ? 0 : program_.of(r).rounds[ranks_[r].round - 1];
  }
  std::uint32_t round_end(Rank r) const { return program_.of(r).rounds[ranks_[r].round]; }

  /// One op, or the end of one round. False if the rank cannot go on now.
  bool advance(Rank r) {
    if (ended(r)) return false;
    if (ranks_[r].op == round_end(r)) return offer_transfers(r) || end_round(r);
    const Place place{r, ranks_[r].op};
    if (program_.op(place).code == OpCode::wait && !satisfied(place)) return false;
    start(place, program_.op(place));
    ++ranks_[r].op;
    return true;
  }

  void start(Place place, const Op& op) {
    switch (op.code) {
      case OpCode::send:
        return actions_.post_send(place, op, program_.message(place));
      case OpCode::recv:
        return actions_.post_recv(place, op, program_.message(place));
      case OpCode::signal:
        if (op.step != ++ranks_[place.rank].reached) program_.fail(place, "steps must be 1, 2, 3, ...");
        return actions_.signal(place, op);
      case OpCode::wait:
        return each_peer(place, op, [&](Rank peer) { actions_.waited(place, peer, op.step); });
      case OpCode::aggregate:
        return actions_.start(place, op, program_.aggregation(place));
      case OpCode::settle:
        return;
      default:
        return actions_.local(place, op);
    }
  }

  template <class Visit>
  void each_peer(Place place, const Op& op, Visit visit) const {
    if (op.peer != everyone) return visit(op.peer);
    for (Rank q = 0; q < program_.ranks(); ++q)
      if (q != place.rank) visit(q);
  }

  bool satisfied(Place place) const {
    const Op& op = program_.op(place);
    bool all = true;
    each_peer(place, op, [&](Rank peer) { all = all && ranks_[peer].reached >= op.step; });
    return all;
  }

  static bool is_transfer(const Op& op) { return op.code == OpCode::send || op.code == OpCode::recv; }

  /// What the end of its round waits for.
  bool is_pending(Place p) const {
    if (is_transfer(program_.op(p))) return !posted_[program_.message(p)].both();
    if (program_.op(p).code != OpCode::settle) return false;
    const AggregationId id = program_.aggregation(p);
    return started_[id] < program_.starts(id).size();
  }

  bool end_round(Rank r) {
    for (Place p{r, round_begin(r)}; p.op < round_end(r); ++p.op)
      if (is_pending(p)) return false;
    for (Place p{r, round_begin(r)}; p.op < round_end(r); ++p.op) complete(p, program_.op(p));
    ++ranks_[r].round;
    ranks_[r].offered = false;
    return true;
  }

  /// Only now: an executor may hold transfers back until the round has nothing else to do. False if there is
  /// nothing new to offer.
  bool offer_transfers(Rank r) {
    const bool first = !std::exchange(ranks_[r].offered, true);
    bool any = first;
    const std::uint32_t ended = ended_recvs(r);
    for (Place p{r, round_begin(r)}; p.op < round_end(r); ++p.op) {
      const Op& op = program_.op(p);
      if (op.code == OpCode::send && op.held <= ended)
        any |= !std::exchange(posted_[program_.message(p)].send, true);
      if (op.code == OpCode::recv) posted_[program_.message(p)].recv = true;
      if (op.code == OpCode::aggregate && first) ++started_[program_.aggregation(p)];
    }
    return any;
  }

  std::uint32_t ended_recvs(Rank r) const {
    std::uint32_t ended = 0;
    for (Place p{r, round_begin(r)}; p.op < round_end(r); ++p.op)
      if (program_.op(p).code == OpCode::recv && posted_[program_.message(p)].both()) ++ended;
    return ended;
  }

  void complete(Place p, const Op& op) {
    if (op.code == OpCode::send) actions_.complete_send(p, op, program_.message(p));
    if (op.code == OpCode::recv) actions_.complete_recv(p, op, program_.message(p));
    if (op.code == OpCode::settle) settle(p);
  }

  void settle(Place p) {
    const AggregationId id = program_.aggregation(p);
    const Place start = program_.starts(id)[program_.member(id, p.rank)];
    actions_.settle(start, program_.op(start), id);
  }

  Place blocked_at(Rank r) const {
    if (ranks_[r].op < round_end(r)) return {r, ranks_[r].op};
    Place p{r, round_begin(r)};
    while (!is_pending(p)) ++p.op;
    return p;
  }

  void report_deadlock() const {
    constexpr int most_named = 4;
    std::string what;
    int blocked = 0;
    for (Rank r = 0; r < program_.ranks(); ++r)
      if (!ended(r) && blocked++ < most_named)
        what += "; " + program_.name_of(blocked_at(r)) + " never completes";
    if (blocked > most_named) what += "; and " + std::to_string(blocked - most_named) + " more ranks";
    if (blocked > 0) throw Error("deadlock" + what);
  }

  const Program& program_;
  Actions& actions_;
  std::vector<State> ranks_;
  std::vector<Posted> posted_;
  std::vector<std::size_t> started_;  ///< by how many members
};

}  // namespace

void run(const Program& program, Actions& actions, std::uint64_t interleaving) {
  Stepper stepper(program, actions);
  if (interleaving == 0) return stepper.run();
  stepper.run_interleaved(interleaving);
}

}  // namespace hocket::ir
