#include "switch/groups/shape.hpp"

namespace hocket::aggregation {

namespace {

template <class Text>
std::string both(const Text& one, const Text& other) {
  return std::string(one).append(" and ").append(other);
}

}  // namespace

Shape shape_of(const wire::FrameHead& head) noexcept {
  return {head.type, head.op, (head.flags & wire::streaming) != 0, head.total};
}

std::string difference(const Shape& one, const Shape& other) {
  if (one.type != other.type) return both(kernels::name(one.type), kernels::name(other.type));
  if (one.op != other.op) return both(kernels::name(one.op), kernels::name(other.op));
  if (one.total != other.total)
    return both(std::to_string(one.total), std::to_string(other.total)).append(" bytes");
  return "streaming and small mode";
}

}  // namespace hocket::aggregation
