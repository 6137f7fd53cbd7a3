#include "executors/simulated/trace.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <span>

#include "base/error.hpp"

namespace hocket::executors::simulated {

namespace {

using ir::Op;
using ir::OpCode;
using Kind = Step::Kind;

class Tracing {
 public:
  Tracing(const ir::Schedule& schedule, std::uint64_t bytes)
      : schedule_(schedule), chunk_(chunk_bytes(schedule, bytes)) {
    for (const auto& group : schedule.groups) least_of_.push_back(std::ranges::min(group));
  }

  Trace run() {
    std::uint32_t begin = 0;
    for (const std::uint32_t end : schedule_.rounds) {
      add_round(std::span(schedule_.ops).subspan(begin, end - begin));
      begin = end;
    }
    return std::move(trace_);
  }

 private:
  void add_round(std::span<const Op> ops) {
    if (std::ranges::any_of(ops, [](const Op& op) { return op.held > 0; })) return add_round_that_holds(ops);
    for (const Op& op : ops) add(op);
    end_round();
  }

  /// A send that is held begins another round, after as many of the recvs as hold it: here these are the
  /// first, in a job they are whichever end first.
  void add_round_that_holds(std::span<const Op> ops) {
    trace_.holds = true;
    std::vector<const Op*> recvs;
    for (const Op& op : ops)
      if (op.code == OpCode::recv) recvs.push_back(&op);
    std::size_t received = 0;
    for (const Op& op : ops) {
      if (op.code == OpCode::recv) continue;
      if (op.held > received) {
        for (; received < std::min<std::size_t>(op.held, recvs.size()); ++received) add(*recvs[received]);
        end_round();
      }
      add(op);
    }
    for (; received < recvs.size(); ++received) add(*recvs[received]);
    end_round();
  }

  void add(const Op& op) {
    switch (op.code) {
      case OpCode::send:
        return transfer(Kind::send, op);
      case OpCode::recv:
        return transfer(Kind::recv, op);
      case OpCode::copy:
      case OpCode::read:
        return work(Kind::copy, bytes_of(op.target));
      case OpCode::reduce:
        return work(Kind::reduce, bytes_of(op.target) * (op.regions - 1));
      case OpCode::signal:
        return trace_.steps.push_back({Kind::signal, 0, 0});
      case OpCode::wait:
        return wait(op);
      case OpCode::expose:
        return;
      case OpCode::aggregate:
        return aggregate(op);
      case OpCode::settle:
        return settle(op);
    }
  }

  std::uint64_t bytes_of(const ir::Region& r) const { return r.count * chunk_; }
  Rank distance(Rank peer) const { return (peer - schedule_.rank + schedule_.ranks) % schedule_.ranks; }

  void transfer(Kind kind, const Op& op) {
    std::uint64_t bytes = 0;
    for (const ir::Region& r : schedule_.regions_of(op)) bytes += bytes_of(r);
    trace_.steps.push_back({kind, distance(op.peer), bytes});
  }

  void wait(const Op& op) {
    const bool all = op.peer == ir::everyone;
    trace_.steps.push_back({all ? Kind::wait_everyone : Kind::wait, all ? 0 : distance(op.peer), op.step});
  }

  /// Members start nothing of no bytes, unless it is a barrier.
  void aggregate(const Op& op) {
    std::uint64_t bytes = 0;
    for (const ir::Region& r : schedule_.regions_of(op)) bytes += bytes_of(r);
    const std::uint64_t comes_back = bytes_of(op.target);
    const bool is_started = bytes + comes_back != 0 || ir::kind_of(schedule_, op) == ir::Collective::barrier;
    if (is_started) trace_.steps.push_back({Kind::aggregate, least_of_[op.group], bytes});
    under_way_[op.group].push_back({op.step, comes_back, is_started});
  }

  void settle(const Op& op) {
    auto& under_way = under_way_[op.group];
    if (under_way.empty() || under_way.front().step != op.step)
      throw Error("its aggregations settle in another order than they start in");
    const UnderWay one = under_way.front();
    under_way.pop_front();
    if (one.is_started) trace_.steps.push_back({Kind::settle, least_of_[op.group], one.comes_back});
  }

  /// Work that follows its like is one step: in how many pieces it is done does not matter.
  void work(Kind kind, std::uint64_t bytes) {
    const bool follows = trace_.steps.size() > round_begin() && trace_.steps.back().kind == kind;
    if (follows)
      trace_.steps.back().amount += bytes;
    else
      trace_.steps.push_back({kind, 0, bytes});
  }

  std::size_t round_begin() const { return trace_.rounds.empty() ? 0 : trace_.rounds.back().end; }

  void end_round() {
    if (!repeats_last()) {
      trace_.rounds.push_back({static_cast<std::uint32_t>(trace_.steps.size()), 1});
      return;
    }
    ++trace_.rounds.back().repeats;
    trace_.steps.resize(round_begin());
  }

  bool repeats_last() const {
    if (trace_.rounds.empty()) return false;
    const auto& rounds = trace_.rounds;
    const std::size_t first = rounds.size() > 1 ? rounds[rounds.size() - 2].end : 0;
    const auto at = [&](std::size_t i) { return trace_.steps.begin() + static_cast<std::ptrdiff_t>(i); };
    return std::equal(at(first), at(rounds.back().end), at(rounds.back().end), trace_.steps.end());
  }

  const ir::Schedule& schedule_;
  std::uint64_t chunk_;
  std::vector<Rank> least_of_;  ///< each group
  struct UnderWay {
    std::uint32_t step;
    std::uint64_t comes_back;  ///< bytes
    bool is_started;
  };
  std::map<std::uint32_t, std::deque<UnderWay>> under_way_;  ///< aggregations, by group
  Trace trace_;
};

}  // namespace

std::uint64_t chunk_bytes(const ir::Schedule& schedule, std::uint64_t bytes) {
  if (!ir::is_vector(schedule.collective) || schedule.chunks == 0) return bytes;
  return (bytes + schedule.chunks - 1) / schedule.chunks;
}

Trace trace_of(const ir::Schedule& schedule, std::uint64_t bytes) {
  return Tracing(schedule, bytes).run();
}

std::uint64_t steps_of(const Trace& trace, Rank ranks) {
  std::uint64_t sum = 0;
  std::uint32_t i = 0;
  for (const Round& round : trace.rounds) {
    std::uint64_t once = 1;
    for (; i < round.end; ++i)
      once += trace.steps[i].kind == Kind::wait_everyone ? static_cast<std::uint64_t>(ranks) : 1;
    sum += once * round.repeats;
  }
  return sum;
}

}  // namespace hocket::executors::simulated
