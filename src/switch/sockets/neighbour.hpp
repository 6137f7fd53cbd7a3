// A connection to a member that has been admitted, or to the parent: frames in, frames out, and why it has
// ended.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "switch/groups/limits.hpp"
#include "switch/groups/port.hpp"
#include "switch/groups/statistics.hpp"
#include "switch/sockets/loop.hpp"
#include "switch/sockets/outbox.hpp"
#include "switch/wire/frame_reader.hpp"

namespace hocket::aggregation {

class Neighbour final : public Port, private Watched {
 public:
  /// What throws in it ends the connection.
  using Hear = std::function<void(Neighbour&, const wire::Piece&)>;
  struct End {
    std::string why;
    bool is_malformed = false;
  };

  /// `direction`: of what comes. Throws Error.
  Neighbour(Loop& loop, Descriptor connection, const wire::Hello& hello, std::string name,
            wire::Direction direction, const Limits& limits, Traffic& traffic, Hear hear);
  ~Neighbour() override;

  void send(wire::FrameHead head, const Slice& payload) override { outbox_.add(head, payload); }
  /// As much of it as leaves without waiting.
  void flush();
  /// It is of no use any more, and will be seen off.
  const End* end() const noexcept { return end_ ? &*end_ : nullptr; }
  /// The last that it hears; it may not hear it.
  void say_farewell(std::string_view words);
  const Descriptor& connection() const noexcept { return connection_; }

 private:
  void ready(std::uint32_t events) override;
  void receive();
  void hear_all();
  void choose_events() noexcept;

  Loop& loop_;
  const Descriptor connection_;
  Traffic& traffic_;
  const Hear hear_;
  wire::FrameReader reader_;
  Outbox outbox_;
  std::uint32_t events_;  ///< that are waited for
  std::optional<End> end_;
};

}  // namespace hocket::aggregation
