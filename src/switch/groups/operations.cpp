#include "switch/groups/operations.hpp"

#include <algorithm>
#include <string>

namespace hocket::aggregation {

namespace {

using wire::FrameHead;

FrameHead head_of(std::uint32_t number, const Shape& shape, unsigned flags, std::uint64_t offset) {
  if (shape.is_streaming) flags |= wire::streaming;
  return {.flags = static_cast<std::uint8_t>(flags),
          .type = shape.type,
          .op = shape.op,
          .operation = number,
          .offset = offset,
          .total = shape.total};
}

/// In frames that are not too long.
template <class Send>
void send_pieces(FrameHead head, const Slice& data, Send send) {
  constexpr std::size_t longest = wire::longest_payload;
  for (std::size_t done = 0; done == 0 || done < data.data.size(); done += longest) {
    send(head, data.part(done, std::min(longest, data.data.size() - done)));
    head.offset += longest;
  }
}

}  // namespace

Operation& Operations::operation_of(const FrameHead& head) {
  const Shape shape = shape_of(head);
  if (outstanding_.size() > std::size_t{2} * limits_.operations_per_group)
    throw Disagreement(wire::Error::invalid, "members are at different operations");
  const auto [row, is_new] = outstanding_.try_emplace(head.operation, shape, roster_.children().size());
  if (row->second.shape() != shape)
    throw Disagreement(wire::Error::invalid, "members disagree: " + difference(row->second.shape(), shape));
  return row->second;
}

void Operations::begin(Child& child, bool is_streaming) const {
  std::uint32_t& count = is_streaming ? child.streaming : child.small;
  if (count == limits_.operations_per_group) throw wire::Malformed("too many outstanding operations");
  ++count;
}

void Operations::move_ahead(Child& child, std::uint64_t bytes) const {
  if (bytes > limits_.window - child.ahead) throw wire::Malformed("further ahead than the window");
  child.ahead += bytes;
}

void Operations::take(Child& child, const wire::Piece& piece) {
  Operation& operation = operation_of(piece.head);
  const bool is_streaming = operation.shape().is_streaming;
  if (!operation.has_begun(child.index)) begin(child, is_streaming);
  const std::uint64_t before = operation.reach(child.index);
  const std::uint64_t after = piece.head.offset + piece.head.bytes;
  if (is_streaming && after > before) move_ahead(child, after - before);
  if (const auto advance = operation.take(child.index, piece.head, piece.payload))
    go_on(outstanding_.find(piece.head.operation), *advance);
}

void Operations::go_on(Row row, const Advance& advance) {
  const Operation& operation = row->second;
  if (roster_.above()) return pass_up(row, advance);
  if (operation.is_wanted() && !operation.is_contributed_to() && operation.shape().total > 0)
    throw Disagreement(wire::Error::invalid, "nobody contributes to what is wanted");
  deliver(row, advance);
}

void Operations::pass_up(Row row, const Advance& advance) const {
  const auto& [number, operation] = *row;
  const unsigned wants = operation.is_wanted() ? unsigned{wire::wants} : 0U;
  if (operation.is_contributed_to())
    send_pieces(head_of(number, operation.shape(), wire::contributes | wants, advance.from), advance.data,
                [this](const FrameHead& head, const Slice& data) { roster_.send_up(head, data); });
  else
    roster_.send_up(head_of(number, operation.shape(), wire::hollow | wants, advance.to));
}

void Operations::take_result(const wire::Piece& piece) {
  const FrameHead& head = piece.head;
  const Row row = outstanding_.find(head.operation);
  if (row == outstanding_.end() || row->second.shape() != shape_of(head))
    throw wire::Malformed("a result of another operation");
  const Operation& operation = row->second;
  const bool is_hollow = (head.flags & wire::hollow) != 0;
  const std::uint64_t to = head.offset + head.bytes;
  const bool follows = is_hollow ? head.offset >= operation.result : head.offset == operation.result;
  if (!operation.have_all_begun() || !follows || to > operation.combined())
    throw wire::Malformed("a result out of order");
  deliver(row, {operation.result, to, copy_of(piece.payload)});
}

void Operations::send_result(const Child& child, Row row, const Advance& advance) const {
  const auto& [number, operation] = *row;
  const bool has_data = advance.data.data.size() == advance.to - advance.from;
  if (operation.wants(child.index) && has_data)
    send_pieces(head_of(number, operation.shape(), 0, advance.from), advance.data,
                [&](const FrameHead& head, const Slice& data) { Roster::send_down(child, head, data); });
  else
    Roster::send_down(child, head_of(number, operation.shape(), wire::hollow, advance.to));
}

void Operations::deliver(Row row, const Advance& advance) {
  Operation& operation = row->second;
  operation.result = advance.to;
  for (const auto& child : roster_.children()) {
    if (operation.shape().is_streaming) child->ahead -= advance.to - advance.from;
    send_result(*child, row, advance);
  }
  if (advance.to == operation.shape().total) end(row);
}

void Operations::end(Row row) {
  const bool is_streaming = row->second.shape().is_streaming;
  for (const auto& child : roster_.children()) --(is_streaming ? child->streaming : child->small);
  ++(is_streaming ? statistics_.streaming_operations : statistics_.small_operations);
  outstanding_.erase(row);
}

bool Operations::need(const Child& child) const noexcept {
  return std::ranges::any_of(outstanding_, [&](const auto& row) {
    return row.second.reach(child.index) < row.second.shape().total || !row.second.has_begun(child.index);
  });
}

}  // namespace hocket::aggregation
