// What all children of a group have to say alike of an operation.
#pragma once

#include <cstdint>
#include <string>

#include "switch/wire/frames.hpp"

namespace hocket::aggregation {

struct Shape {
  kernels::ElementType type = kernels::ElementType::none;
  kernels::OpKind op = kernels::OpKind::none;
  bool is_streaming = false;
  std::uint64_t total = 0;

  bool operator==(const Shape&) const = default;
};

Shape shape_of(const wire::FrameHead& head) noexcept;

/// For people: "f32 and f64".
std::string difference(const Shape& one, const Shape& other);

}  // namespace hocket::aggregation
