#include "switch/groups/operation.hpp"

#include <algorithm>
#include <cstring>

#include "switch/wire/frame_reader.hpp"

namespace hocket::aggregation {

namespace {

kernels::ReduceFn kernel_of(const Shape& shape) {
  if (shape.op == kernels::OpKind::none) return nullptr;
  if (!kernels::supported(shape.op, shape.type))
    throw Disagreement(wire::Error::not_supported, "no " + std::string(kernels::name(shape.op)) + " of " +
                                                       std::string(kernels::name(shape.type)));
  return kernels::find(shape.op, shape.type);
}

}  // namespace

Operation::Operation(const Shape& shape, std::size_t children)
    : shape_(shape), unit_(wire::unit_of(shape.type)), reduce_(kernel_of(shape)), parts_(children) {}

void Operation::note(Part& part, const wire::FrameHead& head) {
  const bool contributes = (head.flags & wire::contributes) != 0, wants = (head.flags & wire::wants) != 0;
  if (!part.has_begun) {
    part.has_begun = true;
    part.contributes = contributes;
    part.wants = wants;
    if (++begun_ == parts_.size()) all_have_begun();
  } else if (part.contributes != contributes || part.wants != wants || part.reach == shape_.total) {
    throw wire::Malformed("frames that do not belong to the operation");
  }
  const bool follows =
      contributes ? head.offset == part.reach : head.offset > part.reach || shape_.total == 0;
  if (!follows) throw wire::Malformed("bytes out of order");
  part.reach = head.offset + head.bytes;  // hollow frames have none
}

void Operation::all_have_begun() {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].contributes) contributing_.push_back(i);
    is_wanted_ = is_wanted_ || parts_[i].wants;
  }
  sources_.resize(contributing_.size());
  if (contributing_.size() > 1 && !reduce_ && shape_.total > 0)
    throw Disagreement(wire::Error::invalid, "several contribute, and nothing combines them");
}

std::uint64_t Operation::common_reach() const noexcept {
  std::uint64_t least = shape_.total;
  for (const Part& part : parts_) least = std::min(least, part.reach);
  return least;
}

std::optional<Advance> Operation::take(std::size_t child, const wire::FrameHead& head,
                                       std::span<const std::byte> payload) {
  Part& part = parts_[child];
  note(part, head);
  Fresh fresh{child, payload};
  std::optional<Advance> advanced = advance(fresh);
  part.backlog.add(fresh.data, unit_, fresh.data.size() + (shape_.total - part.reach));
  return advanced;
}

std::optional<Advance> Operation::advance(Fresh& fresh) {
  if (!have_all_begun()) return {};
  const std::uint64_t reach = common_reach();
  if (reach == combined_ && shape_.total > 0) return {};
  Advance advanced{combined_, reach, {}};
  if (is_contributed_to()) advanced.data = combine(reach - combined_, fresh);
  combined_ = reach;
  return advanced;
}

/// Bytes, at most so many, that lie in one piece for every contributing child.
std::size_t Operation::line_up(Fresh& fresh, std::size_t bytes) {
  for (std::size_t i = 0; i < contributing_.size(); ++i) {
    const Backlog& backlog = parts_[contributing_[i]].backlog;
    const std::span<const std::byte> next = backlog.is_empty() ? fresh.data : backlog.front();
    sources_[i] = next.data();
    bytes = std::min(bytes, next.size());
  }
  return bytes;
}

void Operation::drop(Fresh& fresh, std::size_t bytes) noexcept {
  for (const std::size_t child : contributing_) {
    Backlog& backlog = parts_[child].backlog;
    if (backlog.is_empty())
      fresh.data = fresh.data.subspan(bytes);
    else
      backlog.drop(bytes);
  }
}

Slice Operation::combine(std::size_t bytes, Fresh& fresh) {
  const std::shared_ptr<std::byte[]> block = std::make_shared_for_overwrite<std::byte[]>(bytes);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t run = line_up(fresh, bytes - done);
    if (reduce_)
      reduce_(block.get() + done, sources_.data(), static_cast<int>(sources_.size()), run / unit_);
    else
      std::memcpy(block.get() + done, sources_.front(), run);
    drop(fresh, run);
    done += run;
  }
  return {block, std::span<const std::byte>(block.get(), bytes)};
}

}  // namespace hocket::aggregation
