#include "ir/outcome.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/error.hpp"

namespace hocket::ir {

namespace {

class Outcome {
 public:
  Outcome(const Program& program, const SymbolicMemory& memory, const Expressions& expressions, bool ranked)
      : program_(program), memory_(memory), expressions_(expressions), ranked_(ranked) {}

  void check() {
    for (Rank r = 0; r < program_.ranks(); ++r) {
      const Window w = program_.output(r);
      for (std::uint32_t c = w.first; c < w.first + w.count; ++c) check_chunk(r, c);
    }
    if (program_.collective() == Collective::allreduce) check_same_bits();
  }

 private:
  Value output(Rank r, std::uint32_t c) const {
    return memory_.at(memory_.locate(r, {self, Buffer::output, c, 1}, c));
  }

  void check_chunk(Rank r, std::uint32_t c) {
    if (is_reduction(program_.collective())) return check_contributions(r, c);
    // The root's vector of a broadcast is its input; an output beside it need not be filled.
    const bool optional = program_.collective() == Collective::bcast && r == program_.of(r).root;
    if (optional && output(r, c) == undefined) return;
    if (output(r, c) != moved(r, c)) fail(r, c, expressions_.to_text(moved(r, c)));
  }

  /// The input chunk that a collective without reduction brings to this output chunk.
  Value moved(Rank r, std::uint32_t c) const {
    const Rank root = program_.of(r).root;
    const auto own = static_cast<std::uint32_t>(r);
    switch (program_.collective()) {
      case Collective::bcast:
        return expressions_.leaf(root, c);
      case Collective::scatter:
        return expressions_.leaf(root, own);
      case Collective::alltoall:
        return expressions_.leaf(static_cast<Rank>(c), own);
      default:  // gather, allgather
        return expressions_.leaf(static_cast<Rank>(c), c);
    }
  }

  /// Ranks 0 .. count-1 contribute to what rank r gets.
  Rank contributors(Rank r) const {
    switch (program_.collective()) {
      case Collective::scan:
        return r + 1;
      case Collective::exscan:
        return r;
      default:
        return program_.ranks();
    }
  }

  void check_contributions(Rank r, std::uint32_t c) {
    const Rank count = contributors(r);
    const Value value = output(r, c);
    // One proof per expression: value says which chunk, and the count of contributors is the same wherever it
    // is expected.
    if (!proved_.insert({value, c, count}).second) return;
    auto leaves = expressions_.leaves(value, static_cast<std::size_t>(count) + 1);
    if (!ranked_) std::ranges::sort(leaves, {}, &Expressions::Leaf::rank);
    bool right = leaves.size() == static_cast<std::size_t>(count);
    for (Rank i = 0; right && i < count; ++i) right = leaves[i] == Expressions::Leaf{i, c};
    if (!right)
      fail(r, c,
           "the contributions of ranks 0 to " + std::to_string(count - 1) + " to chunk " + std::to_string(c) +
               (ranked_ ? " in that order" : ", once each"));
  }

  void check_same_bits() const {
    for (Rank r = 1; r < program_.ranks(); ++r)
      for (std::uint32_t c = 0; c < program_.chunks(); ++c)
        if (output(r, c) != output(0, c))
          throw Error("rank " + std::to_string(r) + " folds chunk " + std::to_string(c) +
                      " in another way than rank 0: the results differ in their last bits");
  }

  [[noreturn]] void fail(Rank r, std::uint32_t c, const std::string& wanted) const {
    throw Error("rank " + std::to_string(r) + " ends with output[" + std::to_string(c) +
                "] = " + expressions_.to_text(output(r, c)) + "; it should be " + wanted);
  }

  struct Proof {
    Value value;
    std::uint32_t chunk;
    Rank count;
    bool operator==(const Proof&) const = default;
  };
  struct HashOfProof {
    std::size_t operator()(const Proof& p) const {
      return (std::size_t{p.value} * 0x9E3779B97F4A7C15u) ^ (std::size_t{p.chunk} << 20) ^
             static_cast<std::size_t>(p.count);
    }
  };

  const Program& program_;
  const SymbolicMemory& memory_;
  const Expressions& expressions_;
  bool ranked_;
  std::unordered_set<Proof, HashOfProof> proved_;
};

}  // namespace

void check_outcome(const Program& program, const SymbolicMemory& memory, const Expressions& expressions,
                   const Expectation& expectation) {
  Outcome(program, memory, expressions, expectation.ranked).check();
}

}  // namespace hocket::ir
