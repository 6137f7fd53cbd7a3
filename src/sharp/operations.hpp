// The operations of a group that are outstanding: what is to be sent of them next, and what came back. In
// datagram mode each is one frame; in streaming mode, where one is sent after the other, no more than a
// window ahead of the results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>

#include "sharp/outbox.hpp"
#include "sharp/request.hpp"
#include "switch/wire/frames.hpp"

namespace hocket::sharp {

class Operations {
 public:
  Operations(std::uint32_t group, std::uint32_t most_outstanding, std::uint64_t window) noexcept
      : group_(group), most_outstanding_(most_outstanding), window_(window) {}

  /// Whether one more may be outstanding in that mode.
  bool has_room(bool streams) const noexcept { return outstanding_[streams ? 1 : 0] < most_outstanding_; }
  bool is_idle() const noexcept { return operations_.empty(); }
  void start(Request& request, const Part& part, bool streams);

  /// Nothing: there is nothing to send for now.
  std::optional<OutgoingFrame> next_frame() noexcept;

  // Of data frames that come down.
  /// False: no switch says that now.
  bool expects(const wire::FrameHead& head) noexcept;
  /// Where byte `done` of a frame goes. Null: its operation is not there any more.
  std::byte* place(const wire::FrameHead& head, std::size_t done) noexcept;
  /// More of the result of an operation is over, up to here. The request that this has ended an operation of,
  /// or null.
  Request* over(std::uint32_t number, std::uint64_t up_to) noexcept;
  std::uint64_t got(std::uint32_t number) noexcept;

  /// Forgets them; whose they were.
  std::set<Request*> give_up();

 private:
  struct Operation {
    std::uint32_t number;
    Request* request;
    Part part;
    bool streams;
    bool is_announced = false;  ///< a frame of it has been made
    bool is_over = false;
    std::uint64_t sent = 0, got = 0;  ///< bytes; of who contributes nothing: for which nothing will come

    bool is_sent() const noexcept { return is_announced && sent == part.bytes; }
  };

  Operation* find(std::uint32_t number) noexcept;
  std::uint64_t length_of_next(const Operation& operation) const noexcept;
  OutgoingFrame frame_of(Operation& operation, std::uint64_t length) noexcept;

  const std::uint32_t group_;
  const std::uint32_t most_outstanding_;
  const std::uint64_t window_;
  std::uint64_t ahead_ = 0;  ///< bytes of streaming operations, of the results
  std::uint32_t next_number_ = 0;
  std::uint32_t outstanding_[2] = {0, 0};  ///< in datagram and streaming mode
  std::deque<Operation> operations_;       ///< numbers without gaps; the first is not over
};

}  // namespace hocket::sharp
