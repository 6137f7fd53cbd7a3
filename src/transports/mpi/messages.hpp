// Two-sided access over the network: the messages of one operation of a communicator. Several operations of a
// communicator may be under way at the same time, each with messages of its own.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "transports/mpi/network.hpp"
#include "transports/transport.hpp"

namespace hocket::transports::mpi {

class Messages final : public TwoSided {
 public:
  /// `members`: world ranks of the communicator, in its order. All arguments outlive it. `stays`: whoever
  /// sends sees to it until it has left, and does not compute meanwhile: its packets may be longer, and who
  /// lacks something may look several times.
  Messages(Network& network, const CommunicatorId& communicator, std::span<const Rank> members,
           bool stays = true);
  ~Messages() override { abandon(); }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  /// Begins an operation: its number on the communicator, and the signature of its call and all before it.
  void begin(std::uint32_t instance, std::uint32_t signature, const CallWords& call) noexcept;
  /// Lets go of the memory of transfers that have not ended, after an error.
  void abandon() noexcept;

  void take_in() noexcept override;
  Status advance_send(Transfer& transfer) noexcept override;
  Status advance_recv(Transfer& transfer) noexcept override;
  Blocker send_blocker(const Transfer& transfer) const noexcept override;
  Blocker recv_blocker(const Transfer& transfer) const noexcept override;

  /// The next message of this peer, a short one, will never be received: it goes, now or when it comes.
  void drop(Rank peer) noexcept;

  /// In a long wait for this peer: tells it in which call, so that it sees if it is in another one.
  void ask(Rank peer) noexcept;
  /// How often it has answered.
  std::uint32_t answers_of(Rank peer) noexcept;
  /// Whether any member is known to be in another call, though nobody waits for a message of it: then there
  /// is a disagreement.
  bool finds_other_call() noexcept;

  /// After Status::mismatch: what the peer sent, for which call.
  struct Disagreement {
    Rank peer = 0;
    bool same_call = false;  ///< with data of another size
    std::size_t sent = 0;
    std::size_t expected = 0;
    CallWords call;
    Rank receiver = -1;  ///< another rank than this one
  };
  const std::optional<Disagreement>& disagreement() const noexcept { return disagreement_; }
  /// This rank knows of one that two others have, in this call.
  void disagree(Rank sender, Rank receiver, std::size_t sent, std::size_t expected) noexcept {
    disagreement_ = {sender, true, sent, expected, call_, receiver};
  }

 private:
  struct Numbers {
    std::uint32_t sent = 0;
    std::uint32_t received = 0;
  };

  Rank world(Rank peer) const noexcept { return members_[static_cast<std::size_t>(peer)]; }
  Numbers& numbers(Rank peer) noexcept { return numbers_[static_cast<std::size_t>(peer)]; }
  bool is_mate(Rank peer) const noexcept { return mates_[static_cast<std::size_t>(peer)] != 0; }
  Status start_send(Transfer& transfer) noexcept;
  Status send_unattended(const Envelope& envelope, Transfer& transfer) noexcept;
  Status send_attended(const Envelope& envelope, Rank to, const Transfer& transfer,
                       std::uint32_t& flight) noexcept;
  Status send_after(const Envelope& envelope, Rank to, const Transfer& transfer,
                    std::uint32_t& flight) noexcept;
  Status send_alone(const Envelope& envelope, Rank to) noexcept;
  bool start_near(const Envelope& envelope, Transfer& transfer) noexcept;
  bool start_parts(const Envelope& envelope, Transfer& transfer) noexcept;
  Status await_return(Transfer& transfer) noexcept;
  Status send_parts(Transfer& transfer) noexcept;
  Status recv_parts(Packet* first, Transfer& transfer) noexcept;
  Status start_recv(Transfer& transfer) noexcept;
  Status fly(Transfer& transfer) noexcept;
  void set_lacks_others(bool lacks) noexcept;
  Status end(Transfer& transfer) noexcept;
  bool take_out(const Packet& packet, const Transfer& transfer) noexcept;
  Status accept(const Envelope& envelope, const Transfer& transfer) noexcept;
  Envelope envelope() const noexcept;
  Envelope envelope_of(const Transfer& transfer) const noexcept;
  Arrivals::Address address_of(const Transfer& transfer) const noexcept;

  Network& network_;
  const CommunicatorId communicator_;
  std::span<const Rank> members_;
  const bool stays_;
  const std::size_t longest_packet_;
  std::vector<Numbers> numbers_;     ///< of messages so far, by peer
  std::vector<std::uint8_t> mates_;  ///< peers on this node
  bool lacks_others_ = false;        ///< the last turn lacked something that comes through the port
  std::uint32_t instance_ = 0;
  std::uint32_t signature_ = 0;
  CallWords call_;
  std::optional<Disagreement> disagreement_;
};

}  // namespace hocket::transports::mpi
