#include "engine/sizes_ahead.hpp"

namespace hocket::engine {

using executors::Blocks;
using executors::Operation;

namespace {

std::size_t if_small(std::size_t size, std::size_t most_small) {
  return size <= most_small ? size : 0;
}

}  // namespace

Blocks SomeBlocks::of(const Blocks& all, std::size_t ranks, Which which, std::size_t most_small) {
  sizes_.resize(ranks);
  offsets_.resize(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::size_t size = all.size_of(r), small = if_small(size, most_small);
    sizes_[r] = which == Which::small ? small : size - small;
    offsets_[r] = all.offset_of(r);
  }
  return {0, sizes_.data(), offsets_.data()};
}

const Operation& SizesAhead::gather(const AheadPlan& plan, const Operation& call) {
  const auto ranks = static_cast<std::size_t>(plan.plan.schedule.ranks);
  rows_.resize(2 * ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    rows_[r] = call.input_blocks.size_of(r);
    rows_[ranks + r] = call.output_blocks.size_of(r);
  }
  gathered_.assign(plan.group.size() * rows_.size(), 0);
  const std::size_t bytes = rows_.size() * sizeof(std::size_t);
  places_.assign(ranks, 0);
  for (std::size_t place = 0; place < plan.group.size(); ++place)
    places_[static_cast<std::size_t>(plan.group[place])] = static_cast<std::ptrdiff_t>(place * bytes);
  gather_.collective = ir::Collective::gather;
  gather_.input = rows_.data();
  gather_.output = gathered_.data();
  gather_.agreed_bytes = gather_.own_bytes = bytes;
  gather_.output_blocks = {bytes, nullptr, places_.data()};
  return gather_;
}

/// Of a rank of the group: its own is not gathered.
const std::size_t* SizesAhead::row(const AheadPlan& plan, std::size_t place) const {
  return plan.group[place] == plan.plan.schedule.rank ? rows_.data()
                                                      : gathered_.data() + place * rows_.size();
}

std::optional<SizesAhead::Disagreement> SizesAhead::disagreement(const AheadPlan& plan) const {
  if (!plan.leads) return std::nullopt;
  const std::size_t ranks = rows_.size() / 2;
  for (std::size_t a = 0; a < plan.group.size(); ++a)
    for (std::size_t b = 0; b < plan.group.size(); ++b) {
      const Rank from = plan.group[a], to = plan.group[b];
      const std::size_t sent = row(plan, a)[static_cast<std::size_t>(to)],
                        expected = row(plan, b)[ranks + static_cast<std::size_t>(from)];
      if (sent != expected) return Disagreement{from, to, sent, expected};
    }
  return std::nullopt;
}

const Operation& SizesAhead::some(const AheadPlan& plan, const Operation& call, SomeBlocks::Which which) {
  const auto ranks = static_cast<std::size_t>(plan.plan.schedule.ranks);
  data_ = call;
  data_.input_blocks = sent_.of(call.input_blocks, ranks, which, plan.most_through_leaders);
  data_.output_blocks = got_.of(call.output_blocks, ranks, which, plan.most_through_leaders);
  return data_;
}

const Operation& SizesAhead::large(const AheadPlan& plan, const Operation& call) {
  return some(plan, call, SomeBlocks::Which::large);
}

/// The planes of scratch are those of passes/hierarchy/alltoall.cpp: what each of the group sends, then what
/// each of them gets. The leader's own blocks are in the program's buffers.
const Operation& SizesAhead::small(const AheadPlan& plan, const Operation& call,
                                   std::uint32_t scratch_planes) {
  some(plan, call, SomeBlocks::Which::small);
  data_.tells_of_empty_blocks = true;
  if (scratch_planes == 0) return data_;
  const auto ranks = static_cast<std::size_t>(plan.plan.schedule.ranks);
  const std::size_t group = plan.group.size();
  sizes_.resize(2 * group * ranks);
  offsets_.resize(sizes_.size());
  for (std::size_t place = 0; place < group; ++place)
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::size_t* told = gathered_.data() + place * 2 * ranks;
      sizes_[place * ranks + r] = if_small(told[r], plan.most_through_leaders);
      sizes_[(group + place) * ranks + r] = if_small(told[ranks + r], plan.most_through_leaders);
    }
  std::size_t offset = 0;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    offsets_[i] = static_cast<std::ptrdiff_t>(offset);
    offset += sizes_[i];
  }
  data_.scratch_blocks = {0, sizes_.data(), offsets_.data()};
  return data_;
}

}  // namespace hocket::engine
