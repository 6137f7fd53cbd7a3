// The one segment of a library or program: opened when something is taken from it first, and copied for
// children that are forked.
#pragma once

#include "heap/segment.hpp"

namespace hocket::heap {

/// Sees to forks: what a fork does before others have their say in it is registered first. Else when
/// something is taken.
void see_to_forks() noexcept;
/// Null: there is no room, or no such memory here.
void* take_from_process_segment(std::size_t bytes, std::size_t alignment, bool& is_zero) noexcept;
Segment& process_segment() noexcept;

}  // namespace hocket::heap
