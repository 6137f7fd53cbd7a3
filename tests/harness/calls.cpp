#include "harness/calls.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace hocket::harness {

using engine::Call;
using engine::Function;
using engine::Rank;
using engine::Reduction;
using ir::Collective;

namespace {

constexpr std::uint64_t guard = 0xdeadbeefdeadbeefU;
constexpr std::size_t guards = 4;

Collective shape(Function f) {
  switch (f) {
    case Function::barrier:
      return Collective::barrier;
    case Function::bcast:
      return Collective::bcast;
    case Function::reduce:
      return Collective::reduce;
    case Function::allreduce:
      return Collective::allreduce;
    case Function::gather:
    case Function::gatherv:
      return Collective::gather;
    case Function::scatter:
    case Function::scatterv:
      return Collective::scatter;
    case Function::allgather:
    case Function::allgatherv:
      return Collective::allgather;
    case Function::alltoall:
    case Function::alltoallv:
      return Collective::alltoall;
    case Function::reduce_scatter:
    case Function::reduce_scatter_block:
      return Collective::reduce_scatter;
    case Function::scan:
      return Collective::scan;
    default:
      return Collective::exscan;
  }
}

/// Element i of the block that `from` has for `to` (vectors: to = 0).
std::uint64_t value(const CallPlan& plan, Rank from, Rank to, std::size_t i) {
  std::uint64_t x = plan.salt + static_cast<std::uint64_t>(from) * 0x9e3779b97f4a7c15U +
                    static_cast<std::uint64_t>(to) * 0xbf58476d1ce4e5b9U + i * 0x94d049bb133111ebU;
  x ^= x >> 31U;
  return (x * 0xd6e8feb86659fd93U) | 1U;
}

/// The map v -> a v + b with a, b in the halves of x; x after y... composed in operand order.
std::uint64_t combine(Operator op, std::uint64_t left, std::uint64_t right) {
  if (op == Operator::sum) return left + right;
  if (op == Operator::maximum) return std::max(left, right);
  const auto a = static_cast<std::uint32_t>(left >> 32U), b = static_cast<std::uint32_t>(left);
  const auto c = static_cast<std::uint32_t>(right >> 32U), d = static_cast<std::uint32_t>(right);
  return static_cast<std::uint64_t>(a * c) << 32U | static_cast<std::uint32_t>(a * d + b);
}

void apply(const Reduction& self, void* dst, const void* const* src, int sources,
           std::size_t count) noexcept {
  const auto op = *static_cast<const Operator*>(self.context);
  auto* to = static_cast<std::uint64_t*>(dst);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t x = static_cast<const std::uint64_t*>(src[0])[i];
    for (int s = 1; s < sources; ++s) x = combine(op, x, static_cast<const std::uint64_t*>(src[s])[i]);
    to[i] = x;
  }
}

std::size_t random_count(std::mt19937_64& random, std::size_t most) {
  switch (random() % 4) {
    case 0:
      return random() % 3;
    case 1:
      return random() % 17;
    case 2:
      return random() % std::min<std::size_t>(most + 1, 400);
    default:
      return random() % (most + 1);
  }
}

bool has_unequal(Function f) {
  return f == Function::gatherv || f == Function::scatterv || f == Function::allgatherv ||
         f == Function::alltoallv || f == Function::reduce_scatter;
}

}  // namespace

std::vector<Function> all_functions() {
  std::vector<Function> all;
  for (int f = 0; f <= static_cast<int>(Function::exscan); ++f) all.push_back(static_cast<Function>(f));
  return all;
}

std::vector<Function> functions_of(Collective collective) {
  std::vector<Function> all = all_functions();
  std::erase_if(all, [&](Function f) { return shape(f) != collective; });
  return all;
}

bool CallPlan::is_v() const {
  return has_unequal(function);
}

std::size_t CallPlan::elements(Rank from, Rank to) const {
  const auto p = static_cast<std::size_t>(ranks);
  switch (function) {
    case Function::gatherv:
    case Function::allgatherv:
      return counts[static_cast<std::size_t>(from)];
    case Function::scatterv:
    case Function::reduce_scatter:
      return counts[static_cast<std::size_t>(to)];
    case Function::alltoallv:
      return counts[static_cast<std::size_t>(from) * p + static_cast<std::size_t>(to)];
    default:
      return counts[0];
  }
}

CallPlan random_call(std::mt19937_64& random, Function function, Rank ranks, std::size_t most) {
  CallPlan plan;
  plan.function = function;
  plan.ranks = ranks;
  plan.root = static_cast<Rank>(random() % static_cast<std::uint64_t>(ranks));
  plan.in_place = random() % 2 == 0;
  plan.op = static_cast<Operator>(random() % 3);
  plan.salt = random();
  std::size_t n = has_unequal(function) ? static_cast<std::size_t>(ranks) : 1;
  if (function == Function::alltoallv) n *= static_cast<std::size_t>(ranks);
  const std::size_t bound = random_count(random, most);
  plan.counts.resize(n);
  for (auto& c : plan.counts) c = n == 1 ? bound : random() % (bound + 1);
  const auto place = [&](Rank from, Rank to) {
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(to);
  };
  if (function == Function::alltoallv &&
      plan.in_place)  // in place, what is sent has the size of what is received
    for (Rank i = 0; i < ranks; ++i)
      for (Rank j = 0; j < i; ++j) plan.counts[place(i, j)] = plan.counts[place(j, i)];
  return plan;
}

CallData::CallData(const CallPlan& plan, Rank rank, std::pmr::memory_resource* memory)
    : plan_(plan), rank_(rank), input_(memory), output_(memory) {
  const Collective c = shape(plan.function);
  const bool root_only = c == Collective::reduce || c == Collective::gather || c == Collective::scatter;
  if (c == Collective::barrier || c == Collective::bcast || (root_only && rank != plan.root))
    plan_.in_place = false;
  fill();
  expect();
  describe();
}

/// Lays out blocks with gaps of one element between unequal ones.
void CallData::fill() {
  const Collective c = shape(plan_.function);
  const bool is_root = rank_ == plan_.root;
  const auto layout = [&](bool incoming, std::vector<std::size_t>& sizes,
                          std::vector<std::ptrdiff_t>& offsets) {
    std::size_t at = 0;
    for (Rank r = 0; r < plan_.ranks; ++r) {
      const std::size_t n = incoming ? plan_.elements(r, rank_) : plan_.elements(rank_, r);
      sizes.push_back(n * 8);
      offsets.push_back(static_cast<std::ptrdiff_t>(at * 8));
      at += n + (plan_.is_v() && c != Collective::reduce_scatter ? 1 : 0);
    }
    return at;
  };
  std::size_t in = 0;
  std::size_t out = 0;
  if (ir::is_vector(c)) in = out = plan_.counts[0];
  if (c == Collective::gather || c == Collective::allgather) {
    in = plan_.elements(rank_, 0);
    if (is_root || c == Collective::allgather) out = layout(true, out_sizes_, out_offsets_);
  }
  if (c == Collective::scatter) {
    if (is_root) in = layout(false, in_sizes_, in_offsets_);
    out = plan_.elements(plan_.root, rank_);
  }
  if (c == Collective::alltoall) {
    in = layout(false, in_sizes_, in_offsets_);
    out = layout(true, out_sizes_, out_offsets_);
  }
  if (c == Collective::reduce_scatter) {
    in = layout(false, in_sizes_, in_offsets_);
    out = plan_.elements(0, rank_);
    if (plan_.in_place) out = in;
  }
  input_.assign(in + guards, guard);
  output_.assign(out + guards, guard);
  const auto own = static_cast<std::size_t>(rank_);
  std::pmr::vector<std::uint64_t>& from = plan_.in_place && c != Collective::scatter ? output_ : input_;
  if (ir::is_vector(c)) {
    if (c != Collective::bcast || is_root)
      for (std::size_t i = 0; i < in; ++i) from[i] = value(plan_, rank_, 0, i);
  } else if (c == Collective::gather || c == Collective::allgather) {
    const std::size_t start = plan_.in_place ? static_cast<std::size_t>(out_offsets_[own]) / 8 : 0;
    for (std::size_t i = 0; i < plan_.elements(rank_, 0); ++i) from[start + i] = value(plan_, rank_, 0, i);
  } else if (!in_offsets_.empty()) {
    const bool exchange_in_place = c == Collective::alltoall && plan_.in_place;
    const auto& offsets = exchange_in_place ? out_offsets_ : in_offsets_;
    for (Rank r = 0; r < plan_.ranks; ++r)
      for (std::size_t i = 0; i < plan_.elements(rank_, r); ++i)
        from[static_cast<std::size_t>(offsets[static_cast<std::size_t>(r)]) / 8 + i] =
            value(plan_, rank_, r, i);
  }
  input_before_ = input_;
}

void CallData::expect() {
  const Collective c = shape(plan_.function);
  expected_.assign(output_.begin(), output_.end());
  checked_.assign(output_.size(), true);
  const auto fold = [&](Rank first, Rank last, Rank to, std::size_t i) {
    std::uint64_t x = value(plan_, first, to, i);
    for (Rank r = first + 1; r <= last; ++r) x = combine(plan_.op, x, value(plan_, r, to, i));
    return x;
  };
  const bool is_root = rank_ == plan_.root;
  const std::size_t n = ir::is_vector(c) ? plan_.counts[0] : 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (c == Collective::bcast && !is_root) expected_[i] = value(plan_, plan_.root, 0, i);
    if (c == Collective::allreduce || (c == Collective::reduce && is_root))
      expected_[i] = fold(0, plan_.ranks - 1, 0, i);
    if (c == Collective::scan) expected_[i] = fold(0, rank_, 0, i);
    if (c == Collective::exscan && rank_ > 0) expected_[i] = fold(0, rank_ - 1, 0, i);
  }
  if (c == Collective::reduce_scatter) {
    const std::size_t own = plan_.elements(0, rank_);
    for (std::size_t i = 0; i < own; ++i) expected_[i] = fold(0, plan_.ranks - 1, rank_, i);
    if (plan_.in_place)
      for (std::size_t i = own; i + guards < checked_.size(); ++i) checked_[i] = false;
  }
  if (c == Collective::scatter && !(plan_.in_place && is_root))
    for (std::size_t i = 0; i < plan_.elements(plan_.root, rank_); ++i)
      expected_[i] = value(plan_, plan_.root, rank_, i);
  if (out_offsets_.empty()) return;
  for (Rank r = 0; r < plan_.ranks; ++r) {
    const auto start = static_cast<std::size_t>(out_offsets_[static_cast<std::size_t>(r)]) / 8;
    for (std::size_t i = 0; i < plan_.elements(r, rank_); ++i)
      expected_[start + i] = value(plan_, r, c == Collective::alltoall ? rank_ : 0, i);
  }
}

void CallData::describe() {
  const Collective c = shape(plan_.function);
  Call& call = call_;
  call.function = plan_.function;
  call.collective = c;
  call.root = plan_.root;
  call.input = plan_.in_place && c != Collective::scatter ? output_.data() : input_.data();
  call.output =
      plan_.in_place && c == Collective::scatter ? static_cast<void*>(input_.data()) : output_.data();
  if (c == Collective::bcast && rank_ == plan_.root) call.output = input_.data();
  if (c == Collective::bcast && rank_ != plan_.root) call.input = output_.data();
  call.in_place = plan_.in_place;
  if (ir::is_vector(c)) call.own_bytes = call.agreed_bytes = plan_.counts[0] * 8;
  if (ir::is_blocks(c)) {
    const bool to_self = c == Collective::scatter || c == Collective::reduce_scatter;
    call.own_bytes = (to_self ? plan_.elements(plan_.root, rank_) : plan_.elements(rank_, 0)) * 8;
    if (!plan_.is_v()) {
      call.agreed_bytes = plan_.counts[0] * 8;
      call.input_blocks.size = call.output_blocks.size = call.agreed_bytes;
    } else {
      if (plan_.function == Function::allgatherv || plan_.function == Function::reduce_scatter)
        call.agreed_bytes = 8 * std::accumulate(plan_.counts.begin(), plan_.counts.end(), std::size_t{0});
      if (!in_sizes_.empty()) call.input_blocks = {0, in_sizes_.data(), in_offsets_.data()};
      if (!out_sizes_.empty()) call.output_blocks = {0, out_sizes_.data(), out_offsets_.data()};
      if (plan_.in_place && c == Collective::alltoall) call.input_blocks = call.output_blocks;
      if (c == Collective::alltoall) point_behind_the_first_block();
    }
  }
  if (ir::is_reduction(c)) {
    call.reduction.apply = apply;
    call.reduction.context = &plan_.op;
    call.reduction.element_bytes = 8;
    call.reduction.commutative = plan_.op != Operator::compose;
    call.reduction.operation =
        static_cast<std::uint8_t>(plan_.op == Operator::compose ? 0 : 1 + static_cast<int>(plan_.op));
  }
}

/// Displacements may be negative: the buffers' pointers stand behind their first blocks.
void CallData::point_behind_the_first_block() {
  const std::ptrdiff_t shift = 16;
  for (auto* offsets : {&in_offsets_, &out_offsets_})
    for (std::ptrdiff_t& offset : *offsets) offset -= shift;
  call_.input = static_cast<const std::byte*>(call_.input) + shift;
  call_.output = static_cast<std::byte*>(call_.output) + shift;
}

std::string CallData::check() const {
  for (std::size_t i = 0; i < output_.size(); ++i)
    if (checked_[i] && output_[i] != expected_[i])
      return "rank " + std::to_string(rank_) + ": output element " + std::to_string(i) + " of " +
             std::to_string(output_.size() - guards) + " is wrong";
  if (input_ != input_before_) return "rank " + std::to_string(rank_) + ": the input was changed";
  return {};
}

}  // namespace hocket::harness
