#include "passes/embed.hpp"

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
        return whole_.send(name_of(op.peer), pieces(part_.regions_of(op)));
      case OpCode::recv:
        return whole_.recv(name_of(op.peer), pieces(part_.regions_of(op)));
      case OpCode::copy:
      case OpCode::reduce:
        return append_each(op);
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
};

}  // namespace

void embed(const ir::Schedule& part, const Embedding& embedding, ir::Builder& whole) {
  Embedder(part, embedding, whole).run();
}

}  // namespace hocket::passes
