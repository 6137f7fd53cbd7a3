// Frames that a connection has still to send. As long as a frame has not begun to leave, what follows it in
// the same operation makes it longer: the slower the receiver, the fewer the frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/descriptor.hpp"
#include "switch/groups/slice.hpp"
#include "switch/wire/frames.hpp"

namespace hocket::aggregation {

class Outbox {
 public:
  void add(wire::FrameHead head, const Slice& payload);
  std::size_t frames() const noexcept { return frames_.size(); }
  /// As much as the connection takes. False: it is broken. `sent` grows by the bytes that have left.
  bool flush(const Descriptor& connection, std::uint64_t& sent);

 private:
  struct Frame {
    wire::FrameHead head;
    std::vector<Slice> payload;

    std::size_t bytes() const noexcept { return sizeof head + head.bytes; }
  };

  bool extend_last(const wire::FrameHead& head, const Slice& payload);
  void drop(std::size_t bytes);

  std::deque<Frame> frames_;
  std::size_t sent_ = 0;  ///< of the first
};

}  // namespace hocket::aggregation
