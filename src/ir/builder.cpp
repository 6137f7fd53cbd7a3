#include "ir/builder.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace hocket::ir {

Op& Builder::append(OpCode code, std::span<const Region> regions) {
  Op op;
  op.code = code;
  op.regions = static_cast<std::uint32_t>(regions.size());
  if (!regions.empty()) op.first_region = static_cast<std::uint32_t>(schedule_.regions.size());
  for (Region r : regions) {
    if (r.owner == schedule_.rank) r.owner = self;  // a builder may treat itself as one of the peers
    schedule_.regions.push_back(r);
  }
  schedule_.ops.push_back(op);
  return schedule_.ops.back();
}

void Builder::send(Rank peer, std::span<const Region> pieces, std::uint32_t held) {
  Op& op = append(OpCode::send, pieces);
  op.peer = peer;
  op.held = held;
}

void Builder::recv(Rank peer, std::span<const Region> pieces) {
  append(OpCode::recv, pieces).peer = peer;
}

void Builder::copy(Region target, Region source) {
  const bool remote = source.owner != self && source.owner != schedule_.rank;
  if (!remote) source.owner = self;
  if (target.count == 0 || target == source) return;
  append(remote ? OpCode::read : OpCode::copy, std::span(&source, 1)).target = target;
}

void Builder::reduce(Region target, std::span<const Region> sources) {
  if (sources.empty()) throw Error("a reduction needs at least one source");
  if (sources.size() == 1) return copy(target, sources.front());
  if (target.count > 0) append(OpCode::reduce, sources).target = target;
}

void Builder::expose(Region region) {
  if (region.count > 0) append(OpCode::expose, {}).target = region;
}

std::uint32_t Builder::signal() {
  append(OpCode::signal, {}).step = ++steps_;
  return steps_;
}

void Builder::wait(Rank peer, std::uint32_t step) {
  Op& op = append(OpCode::wait, {});
  op.peer = peer;
  op.step = step;
}

std::uint32_t Builder::group(std::span<const Rank> members) {
  auto& groups = schedule_.groups;
  const auto known = std::ranges::find_if(
      groups, [&](const std::vector<Rank>& group) { return std::ranges::equal(group, members); });
  const auto number = static_cast<std::uint32_t>(known - groups.begin());
  if (known == groups.end()) groups.emplace_back(members.begin(), members.end());
  return number;
}

std::uint32_t Builder::aggregate(std::uint32_t group, Rank root, Region target,
                                 std::span<const Region> source) {
  Op& op = append(OpCode::aggregate, source);
  op.group = group;
  op.peer = root;
  op.target = target.count > 0 ? target : unwanted;
  op.step = ++aggregations_;
  return aggregations_;
}

void Builder::settle(std::uint32_t group, std::uint32_t step) {
  Op& op = append(OpCode::settle, {});
  op.group = group;
  op.step = step;
}

void Builder::round() {
  const auto end = static_cast<std::uint32_t>(schedule_.ops.size());
  const std::uint32_t begin = schedule_.rounds.empty() ? 0 : schedule_.rounds.back();
  if (end > begin) schedule_.rounds.push_back(end);
}

void Builder::finish() {
  round();
}

}  // namespace hocket::ir
