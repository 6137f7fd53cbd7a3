#include "engine/input_copy.hpp"

#include "base/copy.hpp"

namespace hocket::engine {

using executors::Operation;

/// Blocks are copied one by one: between and before them there may be anything, or nothing.
const Operation& InputCopy::of(const Operation& op, executors::Rank all) {
  const bool blocks = ir::is_blocks(op.collective);
  const auto ranks = static_cast<std::size_t>(all);
  offsets_.resize(ranks);
  std::size_t bytes = blocks ? 0 : op.own_bytes;
  for (std::size_t r = 0; blocks && r < ranks; ++r) {
    offsets_[r] = static_cast<std::ptrdiff_t>(bytes);
    bytes += op.input_blocks.size_of(r);
  }
  if (memory_.size() < bytes) memory_.resize(bytes);
  const auto* from = static_cast<const std::byte*>(op.input);
  const bool any = bytes != 0;  // else both addresses may be null
  if (any && !blocks) copy_bytes(memory_.data(), from, bytes);
  for (std::size_t r = 0; any && blocks && r < ranks; ++r)
    copy_bytes(memory_.data() + offsets_[r], from + op.input_blocks.offset_of(r), op.input_blocks.size_of(r));
  copied_ = op;
  copied_.input = memory_.data();
  if (blocks) copied_.input_blocks.offsets = offsets_.data();
  copied_.in_place = false;
  return copied_;
}

}  // namespace hocket::engine
