// What a rank says of a call is checked before anything is done with it: the worker is others' as well.
#pragma once

#include <cstddef>
#include <span>

#include "executors/operation.hpp"
#include "executors/plan.hpp"
#include "worker/call_views.hpp"

namespace hocket::worker {

/// Throws Error where the mirrors, and what the plan needs beside them, are more than there is memory.
/// Returns how many bytes they are together.
std::size_t checked_size(const executors::Plan& plan, const executors::Operation& op, const CallViews& views);

/// Throws Error where the plan would touch what is not in the views, since sizes and blocks do not fit each
/// other, or a buffer is missing. `input`, `output`: the mirrors.
void check_reach(const executors::Plan& plan, const executors::Operation& op, const CallViews& views,
                 std::span<const std::byte> input, std::span<const std::byte> output);

}  // namespace hocket::worker
