// The connection to the leaf switch of one aggregation tree, and the communicators that share it. Their
// frames take turns. One that was lost may be followed by another: communicators of the old one have failed,
// and know nothing of it.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sharp/inbox.hpp"
#include "sharp/outbox.hpp"
#include "switch/wire/handshake.hpp"

namespace hocket::sharp {

class Communicator;

class Tree final : private FrameReader {
 public:
  /// Throws Error.
  explicit Tree(wire::Admitted admitted)
      : connection_(std::move(admitted.connection)),
        welcome_(admitted.welcome),
        place_(tcp::peer_of(connection_)) {}
  /// What has been said is still sent, but not waited for long.
  ~Tree() override;
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  const wire::Welcome& welcome() const noexcept { return welcome_; }
  bool is_lost() const noexcept { return is_lost_; }
  /// Where the switch is, by numbers.
  const tcp::Place& place() const noexcept { return place_; }
  /// It was lost, and is reached again.
  void go_on_with(wire::Admitted admitted);

  void add(Communicator& communicator);
  void remove(Communicator& communicator);

  /// A frame that is not data.
  void say(const wire::FrameHead& head, std::span<const std::byte> payload = {});
  /// The memory that data of a group are sent from may go.
  void keep(std::uint32_t group) { outbox_.keep(group); }

  /// As much as goes.
  void send();
  /// Sends and receives. True: there was news.
  bool progress();
  /// What to wait for.
  pollfd alarm() const noexcept;
  /// The connection breaks: a fault.
  void cut() noexcept;

 private:
  bool begins(const wire::FrameHead& head) noexcept override;
  std::byte* place(const wire::FrameHead& head, std::size_t done) noexcept override;
  void landed(const wire::FrameHead& head, std::size_t bytes) noexcept override;
  void take(const wire::FrameHead& head, std::span<const std::byte> payload) noexcept override;

  Communicator* find(std::uint32_t group) const noexcept;
  bool fill_outbox();
  void lose();

  Descriptor connection_;
  wire::Welcome welcome_;
  const tcp::Place place_;
  bool is_lost_ = false;
  Inbox inbox_;
  Outbox outbox_;
  std::unordered_map<std::uint32_t, Communicator*> by_group_;
  std::vector<Communicator*> in_turn_;
  std::size_t turn_ = 0;
};

}  // namespace hocket::sharp
