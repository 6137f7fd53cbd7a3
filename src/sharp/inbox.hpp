// What comes from the switch: payloads go straight to where they belong, as much as there is, the rest
// through a small buffer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/descriptor.hpp"
#include "switch/wire/frames.hpp"

namespace hocket::sharp {

/// Who is told of frames as they come.
class FrameReader {
 public:
  virtual ~FrameReader() = default;
  /// False: no switch says that.
  virtual bool begins(const wire::FrameHead& head) noexcept = 0;
  /// Where the payload of a data frame goes, from byte `done` of it on. Null: nobody wants it any more.
  virtual std::byte* place(const wire::FrameHead& head, std::size_t done) noexcept = 0;
  virtual void landed(const wire::FrameHead& head, std::size_t bytes) noexcept = 0;
  /// A frame of another kind, whole; or a hollow one.
  virtual void take(const wire::FrameHead& head, std::span<const std::byte> payload) noexcept = 0;
};

class Inbox {
 public:
  enum class Outcome : std::uint8_t { nothing, news, closed };

  /// What has come, but not without end. closed: or the switch has said what no switch says.
  Outcome receive(const Descriptor& connection, FrameReader& reader) noexcept;

 private:
  static constexpr std::size_t staged = std::size_t{8} << 10U;
  /// Of frames other than data.
  static constexpr std::size_t longest_note = sizeof(wire::Failure);
  static constexpr int most_reads = 16;

  bool is_amid_data() const noexcept { return has_head_ && head_.kind == wire::FrameKind::data; }
  std::size_t missing() const noexcept { return head_.bytes - done_; }
  std::span<const std::byte> unread() const noexcept {
    return std::span(buffer_).subspan(begin_, end_ - begin_);
  }
  std::span<const std::byte> take_out(std::size_t most) noexcept;

  std::ptrdiff_t read_from(const Descriptor& connection, FrameReader& reader) noexcept;
  bool consume(FrameReader& reader) noexcept;
  bool begin_frame(FrameReader& reader) noexcept;
  void go_on(FrameReader& reader) noexcept;
  void end_frame(FrameReader& reader) noexcept;

  wire::FrameHead head_;
  bool has_head_ = false;
  std::size_t done_ = 0;  ///< bytes of the payload
  std::array<std::byte, longest_note> note_;
  std::array<std::byte, staged> buffer_;
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace hocket::sharp
