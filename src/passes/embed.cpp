#include "passes/embed.hpp"

#include <map>
#include <utility>

#include "base/error.hpp"

namespace hocket::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

class Embedder {
 public:
  Embedder(const ir::Schedule& part, const Embedding& embedding, ir::Builder& whole)
      : part_(part), embedding_(embedding), whole_(whole) {}

  void run() {
    std::uint32_t op = 0;
    for (const std::uint32_t end : part_.rounds) {
      for (; op < end; ++op) append(part_.ops[op]);
      whole_.round();
    }
  }

 private:
  void append(const Op& op) {
    switch (op.code) {
      case OpCode::send:
        return whole_.send(name_of(op.peer), pieces(part_.regions_of(op)), op.held);
      case OpCode::recv:
        return whole_.recv(name_of(op.peer), pieces(part_.regions_of(op)));
      case OpCode::copy:
      case OpCode::reduce:
        return append_each(op);
      case OpCode::aggregate:
        return aggregate(op);
      case OpCode::settle:
        return whole_.settle(group_of(op), steps_.at({op.group, op.step}));
      default:
        throw Error("only schedules of send and recv can be parts of others");
    }
  }

  ir::Rank name_of(ir::Rank peer) const { return embedding_.ranks[static_cast<std::size_t>(peer)]; }

  std::vector<Region> meaning_of(const Region& region) const {
    if (region.owner != ir::self) throw Error("only schedules of send and recv can be parts of others");
    std::vector<Region> regions;
    for (std::uint32_t i = 0; i < region.count; ++i)
      embedding_.append(region.buffer, region.first + i, regions);
    return regions;
  }

  std::vector<Region> pieces(std::span<const Region> regions) const {
    std::vector<Region> all;
    for (const Region& region : regions)
      for (const Region& piece : meaning_of(region)) {
        const bool goes_on = !all.empty() && all.back().buffer == piece.buffer &&
                             all.back().first + all.back().count == piece.first;
        if (goes_on)
          all.back().count += piece.count;
        else
          all.push_back(piece);
      }
    return all;
  }

  void aggregate(const Op& op) {
    const ir::Rank root = op.peer == ir::everyone ? ir::everyone : name_of(op.peer);
    const Region target = op.target.count > 0 ? in_one_place({&op.target, 1}) : ir::unwanted;
    const bool contributes = op.regions > 0;
    const Region source = contributes ? in_one_place(part_.regions_of(op)) : ir::unwanted;
    steps_[{op.group, op.step}] =
        whole_.aggregate(group_of(op), root, target, std::span(&source, contributes ? 1 : 0));
  }

  std::uint32_t group_of(const Op& op) const {
    std::vector<ir::Rank> members;
    for (const ir::Rank member : part_.groups.at(op.group)) members.push_back(name_of(member));
    return whole_.group(members);
  }

  Region in_one_place(std::span<const Region> regions) const {
    const std::vector<Region> all = pieces(regions);
    if (all.size() != 1) throw Error("what is aggregated is not in one place");
    return all.front();
  }

  /// One op for each region that the target stands for.
  void append_each(const Op& op) {
    const std::vector<Region> targets = meaning_of(op.target);
    std::vector<std::vector<Region>> sources;
    for (const Region& source : part_.regions_of(op)) sources.push_back(meaning_of(source));
    for (std::size_t i = 0; i < targets.size(); ++i) {
      std::vector<Region> operands;
      for (const auto& source : sources) operands.push_back(source.at(i));
      if (op.code == OpCode::copy)
        whole_.copy(targets[i], operands.front());
      else
        whole_.reduce(targets[i], operands);
    }
  }

  const ir::Schedule& part_;
  const Embedding& embedding_;
  ir::Builder& whole_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> steps_;  ///< of aggregations, in the whole
};

}  // namespace

void embed(const ir::Schedule& part, const Embedding& embedding, ir::Builder& whole) {
  Embedder(part, embedding, whole).run();
}

}  // namespace hocket::passes
