#include "worker/call_checks.hpp"

#include <algorithm>
#include <cstdint>

#include "base/error.hpp"
#include "engine/memory_limits.hpp"
#include "executors/binding.hpp"

namespace hocket::worker {

using executors::Binding;
using executors::Operation;
using executors::Plan;
using ir::Buffer;
using ir::OpCode;
using ir::Region;

namespace {

std::size_t most_bytes() {
  static const std::size_t bytes = engine::available_memory();
  return bytes;
}

/// The buffers of the rank that a plan touches, chunk by chunk.
class Reach {
 public:
  Reach(const Plan& plan, const Operation& op, const CallViews& views, std::span<const std::byte> input,
        std::span<const std::byte> output)
      : binding_(plan, op),
        rank_(plan.schedule.rank),
        one_buffer_(op.in_place),
        in_input_(op.collective == ir::Collective::scatter),
        input_{views.input, input},
        output_{views.output, output} {
    // its output is not where its input is (engine/path.hpp)
    if (op.in_place && op.collective == ir::Collective::reduce_scatter)
      throw Error("a reduction in place whose input is not copied");
    binding_.select({0, binding_.extent()}, nullptr);
  }

  /// Where a send takes its data from, or a receive puts them.
  void check_pieces(const Region& region) const {
    for (std::uint32_t i = 0; i < region.count; ++i)
      check(region, region.first + i, binding_.bytes(region.buffer, region.first + i));
  }
  /// As many bytes move as the target's chunk has.
  void check_move(const Region& target, std::span<const Region> sources) const {
    for (std::uint32_t i = 0; i < target.count; ++i) {
      const std::size_t bytes = binding_.bytes(target.buffer, target.first + i);
      check(target, target.first + i, bytes);
      for (const Region& source : sources) check(source, source.first + i, bytes);
    }
  }

 private:
  void check(const Region& region, std::uint32_t chunk, std::size_t bytes) const {
    const bool is_own = region.owner == ir::self || region.owner == rank_;
    if (bytes == 0 || !is_own || region.buffer == Buffer::scratch) return;
    const auto& [view, mirror] = view_of(region.buffer);
    if (view.bytes() == 0) throw Error("a call without a buffer that it needs");
    if (!view.holds(binding_.own(region.buffer, chunk).data, bytes, mirror))
      throw Error("a call whose sizes do not fit each other");
  }

  struct Viewed {
    const View& view;
    std::span<const std::byte> mirror;
  };
  /// As Binding::own() finds it.
  const Viewed& view_of(Buffer buffer) const {
    const bool is_input = one_buffer_ ? in_input_ : buffer == Buffer::input;
    return is_input ? input_ : output_;
  }

  Binding binding_;
  ir::Rank rank_;
  bool one_buffer_, in_input_;  ///< in place, and which one it is
  Viewed input_, output_;
};

}  // namespace

std::size_t checked_size(const Plan& plan, const Operation& op, const CallViews& views) {
  const Binding binding(plan, op);
  const std::size_t copies = std::size_t{plan.schedule.scratch_planes} * std::max(plan.schedule.chunks, 1U);
  const std::size_t mirrors = views.input.mirror_bytes() + views.output.mirror_bytes();
  // whose memory the rank has: what passes through it is in blocks as long as its own
  if (binding.extent() > std::max(views.input.bytes(), views.output.bytes()))
    throw Error("a call whose sizes do not fit each other");
  if (mirrors > most_bytes() || binding.extent() > most_bytes() / (copies + 1))
    throw Error("a call with more data than there is memory");
  const std::size_t all = mirrors + binding.scratch_bytes(binding.extent());
  if (all > most_bytes()) throw Error("a call with more data than there is memory");
  return all;
}

void check_reach(const Plan& plan, const Operation& op, const CallViews& views,
                 std::span<const std::byte> input, std::span<const std::byte> output) {
  const Reach reach(plan, op, views, input, output);
  for (const ir::Op& one : plan.schedule.ops) {
    const auto regions = plan.schedule.regions_of(one);
    if (one.code == OpCode::send || one.code == OpCode::recv)
      for (const Region& region : regions) reach.check_pieces(region);
    else if (one.code == OpCode::aggregate)
      throw Error("a call that only switches can do");
    else if (one.code == OpCode::copy || one.code == OpCode::reduce)
      reach.check_move(one.target, regions);
  }
}

}  // namespace hocket::worker
