// What goes to the switch: frames in order, whose payload is sent from where it lies. What has been put in
// here is sent before anything else: so it never holds much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "base/descriptor.hpp"
#include "switch/wire/frames.hpp"

namespace hocket::sharp {

struct OutgoingFrame {
  wire::FrameHead head;
  std::span<const std::byte> payload;  ///< stays until it is sent, or copied
};

class Outbox {
 public:
  enum class Outcome : std::uint8_t { all_sent, some_left, closed };

  void add(const OutgoingFrame& frame);
  /// With a payload of its own.
  void add_copy(wire::FrameHead head, std::span<const std::byte> payload);

  bool is_empty() const noexcept { return frames_.empty(); }
  bool is_full() const noexcept { return frames_.size() >= most_frames; }

  /// As much as the connection takes.
  Outcome send(const Descriptor& connection);
  /// The caller's memory that frames of this group lie in may go: what is not sent of them is copied.
  void keep(std::uint32_t group);

 private:
  static constexpr std::size_t most_frames = 16;
  struct Waiting {
    OutgoingFrame frame;
    std::unique_ptr<std::byte[]> copy;
    std::size_t bytes() const noexcept { return sizeof frame.head + frame.payload.size(); }
    void copy_payload();
  };

  void forget(std::size_t sent) noexcept;

  std::deque<Waiting> frames_;
  std::size_t sent_ = 0;  ///< bytes of the first
};

}  // namespace hocket::sharp
