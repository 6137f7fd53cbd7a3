// The reference interpreter: all ranks of one operation in one process, on real bytes, one op after the
// other. Slow and plain: differential tests hold the executors against it. Nothing of the run path uses it.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "ir/program.hpp"

namespace hocket::ir {

/// right operand into left: left = left op right, both of the same number of bytes.
using Fold = std::function<void(std::span<std::byte> left, std::span<const std::byte> right)>;

/// One rank's user buffers: an address per chunk of the window that the collective gives it (others are not
/// looked at). Chunks that the operation has in place are given twice, with one address.
struct UserBuffers {
  std::vector<std::span<const std::byte>> input;
  std::vector<std::span<std::byte>> output;
};

/// Spans of a contiguous buffer for chunks of these sizes.
std::vector<std::span<std::byte>> cut(std::span<std::byte> buffer, std::span<const std::size_t> sizes);

/// buffers[r] belong to rank r. Throws hocket::Error if the schedules are malformed, deadlock, or move a
/// chunk to a place of another size. `interleaving` as in run() of stepper.hpp.
void interpret(std::span<const Schedule> schedules, std::span<UserBuffers> buffers, const Fold& fold,
               Sizes sizes = Sizes::known, std::uint64_t interleaving = 0);

}  // namespace hocket::ir
