// The link between a host and a remote worker: frames in order, and longer data beside them. Each side has
// one, and one thread. What ends the connection that it was made by, ends it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "worker/fabric.hpp"
#include "worker/glances.hpp"
#include "worker/remote/frames.hpp"

namespace hocket::worker::remote {

enum class Side : std::uint8_t { host, worker };

class Link {
 public:
  using Address = std::vector<std::byte>;
  using Ticket = transports::mpi::Port::Ticket;

  /// `other`: the address of the fabric on the other side, which has the same word. Throws Error where it is
  /// none.
  Link(std::unique_ptr<Fabric> fabric, Side side, const Address& other, const LinkWord& word,
       Descriptor connection);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// With the payload's size and what the link adds. Where it cannot be sent, the link is broken.
  void send(FrameHead head, std::span<const std::byte> payload = {}) noexcept;
  /// The next that has come, until this is called again. Null: none.
  const Frame* next() noexcept;
  /// Frames that have not left.
  std::size_t unsent() noexcept;

  /// Data under a number that both sides know. False: the link is broken.
  bool send_data(std::span<const std::byte> data, std::uint32_t number, Ticket& ticket) noexcept;
  bool receive_data(std::span<std::byte> data, std::uint32_t number, Ticket& ticket) noexcept;
  /// pending: not yet.
  Status test(Ticket ticket) noexcept { return port_->test(ticket); }
  void abandon(Ticket ticket) noexcept { port_->abandon(ticket); }
  /// One that no data have; the worker asks.
  std::uint32_t new_number() noexcept;

  /// What moves data when no frame is asked for.
  void progress() noexcept;
  /// Rises with all that comes and goes.
  std::uint64_t moved() const noexcept { return fabric_->moved(); }
  Alarm alarm() noexcept { return fabric_->alarm(); }
  /// For people: the transports that carry it, as the fabric says.
  std::string carriers() const { return fabric_->carriers(); }
  /// Nothing comes any more, or what has come was no frame of this build.
  bool is_broken() noexcept;
  void give_up() noexcept { is_broken_ = true; }

 private:
  static constexpr std::uint32_t places = transports::mpi::Port::places;
  static constexpr std::size_t most_spare = 64;
  struct Sent {
    Frame frame;
    Ticket ticket = 0;
  };

  void listen(std::uint32_t place) noexcept;
  void forget_sent() noexcept;
  Sent& new_frame();
  bool is_from_other(const FrameHead& head, ir::Rank from) const noexcept;
  bool is_cut_off() noexcept;

  const ir::Rank other_;
  const LinkWord word_;
  const Descriptor connection_;
  std::array<Frame, places> heard_{};
  std::list<Sent> sent_, spare_;    ///< spare: those that have left, for the next ones
  std::unique_ptr<Fabric> fabric_;  ///< at its end it sends what is to be sent
  std::uint32_t current_ = places;  ///< the place of the frame that next() has given out
  std::uint32_t number_ = 0;
  std::uint64_t frames_sent_ = 0, frames_heard_ = 0;
  bool is_broken_ = false;
  Glances glances_;
  std::unique_ptr<transports::mpi::Port> port_;  ///< of the fabric
};

}  // namespace hocket::worker::remote
