#include "ir/verify.hpp"

#include "base/error.hpp"
#include "ir/outcome.hpp"
#include "ir/stepper.hpp"
#include "ir/symbolic_aggregations.hpp"
#include "ir/symbolic_memory.hpp"

namespace hocket::ir {

namespace {

/// Whether what a rank knows of the others' progress matters: in a barrier it is the result, and one-sided
/// reads depend on it.
bool needs_clocks(const Program& program) {
  if (program.collective() == Collective::barrier) return true;
  for (Rank r = 0; r < program.ranks(); ++r)
    for (const Region& region : program.of(r).regions)
      if (region.owner != self) return true;
  return false;
}

class SymbolicExecution : public Actions {
 public:
  explicit SymbolicExecution(const Program& program)
      : program_(program),
        expressions_(program.ranks(), program.chunks()),
        memory_(program, expressions_),
        clocks_matter_(needs_clocks(program)),
        signals_(program.ranks()),
        messages_(program.messages()),
        aggregations_(program, memory_, expressions_) {}

  const Expressions& expressions() const { return expressions_; }
  SymbolicMemory& memory() { return memory_; }

  void local(Place place, const Op& op) override {
    if (op.code == OpCode::expose)
      return each_chunk(op.target, [&](auto n) { memory_.expose(place, op.target, n); });
    const auto sources = program_.of(place.rank).regions_of(op);
    for (const Region& source : sources) memory_.check_overlap(place, op.target, source);
    for (std::uint32_t i = 0; i < op.target.count; ++i) {
      Value value = load(place, sources[0], i);
      for (const Region& source : sources.subspan(1))
        value = expressions_.fold(value, load(place, source, i));
      memory_.store(place, op.target, op.target.first + i, value);
    }
  }

  void signal(Place place, const Op&) override {
    if (!clocks_matter_) return;
    memory_.clocks().tick(place.rank);
    signals_[place.rank].push_back(memory_.clocks().of(place.rank));
  }

  void waited(Place place, Rank peer, std::uint32_t step) override {
    if (clocks_matter_ && step > 0) memory_.clocks().merge(place.rank, signals_[peer][step - 1]);
  }

  void post_send(Place place, const Op& op, MessageId id) override {
    each_piece(place, op, [&](const Region& r, std::uint32_t n) {
      messages_[id].values.push_back(memory_.begin_send(place, r, n));
    });
    if (!clocks_matter_) return;
    memory_.clocks().tick(place.rank);
    messages_[id].sent_at = memory_.clocks().of(place.rank);
  }

  void post_recv(Place place, const Op& op, MessageId) override {
    each_piece(place, op, [&](const Region& r, std::uint32_t n) { memory_.begin_recv(place, r, n); });
  }

  void complete_send(Place place, const Op& op, MessageId) override {
    each_piece(place, op, [&](const Region& r, std::uint32_t n) { memory_.end_send(place, r, n); });
  }

  void complete_recv(Place place, const Op& op, MessageId id) override {
    if (clocks_matter_) memory_.clocks().merge(place.rank, messages_[id].sent_at);
    auto value = messages_[id].values.begin();
    each_piece(place, op, [&](const Region& r, std::uint32_t n) { memory_.end_recv(place, r, n, *value++); });
  }

  void start(Place place, const Op& op, AggregationId id) override { aggregations_.start(place, op, id); }
  void settle(Place start, const Op& op, AggregationId id) override { aggregations_.settle(start, op, id); }

 private:
  struct Message {
    std::vector<Value> values;
    Clocks::Snapshot sent_at;
  };

  template <class Visit>
  static void each_chunk(const Region& r, Visit visit) {
    for (std::uint32_t n = r.first; n < r.first + r.count; ++n) visit(n);
  }

  template <class Visit>
  void each_piece(Place place, const Op& op, Visit visit) const {
    for (const Region& r : program_.of(place.rank).regions_of(op))
      each_chunk(r, [&](auto n) { visit(r, n); });
  }

  Value load(Place place, const Region& source, std::uint32_t i) {
    return source.owner == self ? memory_.load(place, source, source.first + i)
                                : memory_.load_remote(place, source, source.first + i);
  }

  const Program& program_;
  Expressions expressions_;
  SymbolicMemory memory_;
  bool clocks_matter_;
  std::vector<std::vector<Clocks::Snapshot>> signals_;  ///< by rank and step
  std::vector<Message> messages_;
  SymbolicAggregations aggregations_;
};

void check_barrier(const Program& program, const Clocks& clocks) {
  for (Rank r = 0; r < program.ranks(); ++r)
    for (Rank q = 0; q < program.ranks(); ++q)
      if (!clocks.knows(r, q, 1))
        throw Error("rank " + std::to_string(r) + " may leave the barrier before rank " + std::to_string(q) +
                    " has entered");
}

void prove(std::span<const Schedule> schedules, const Expectation& expectation, Verdict& verdict) {
  const Program program(schedules, expectation.sizes, expectation.in_place);
  for (const Schedule& s : schedules) verdict.ops += s.ops.size();
  verdict.messages = program.messages();
  SymbolicExecution execution(program);
  run(program, execution);
  verdict.expressions = execution.expressions().size();
  execution.memory().check_readers_are_done();
  if (program.collective() == Collective::barrier) check_barrier(program, execution.memory().clocks());
  check_outcome(program, execution.memory(), execution.expressions(), expectation);
}

}  // namespace

Verdict verify(std::span<const Schedule> schedules, const Expectation& expectation) {
  Verdict verdict;
  try {
    prove(schedules, expectation, verdict);
  } catch (const Error& error) {
    verdict.ok = false;
    verdict.what = error.what();
  }
  return verdict;
}

Verdict verify(Rank ranks, const std::function<Schedule(Rank)>& schedule_of, const Expectation& expectation) {
  std::vector<Schedule> schedules;
  for (Rank r = 0; r < ranks; ++r) schedules.push_back(schedule_of(r));
  return verify(schedules, expectation);
}

}  // namespace hocket::ir
