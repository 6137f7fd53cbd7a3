// The messages of all communicators of a process over its one port: envelopes that go out and come in,
// matched by what they say, and the data that follow them.
//
// A message is an envelope with the data inside, or, if they are long, an envelope that names the tag under
// which they come. Envelopes are received in a few places by receives that match any sender, so a message may
// come before its operation has begun here, and before its communicator was opened; it is kept until somebody
// asks for it. Between ranks of one node envelopes go through their mailboxes instead of the port, as long as
// there is room: messages are found by their number, so it does not matter which came by which way. Long data
// may stay where they are there, and their envelope says where that is (loans.hpp), or go through memory that
// both map, in parts, each of which has an envelope (shm::NodeStages).
//
// Numbers wrap: those of instances and messages are only compared for equality, among what is under way; a
// pair's tags serve again after as many long messages as there are tags (32,767 at least), by when a receiver
// has long asked for the first, or else has that many long messages of one sender before it.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transports/mpi/flights.hpp"
#include "transports/mpi/loans.hpp"
#include "transports/mpi/packets.hpp"
#include "transports/shm/node_mail.hpp"
#include "transports/shm/node_stages.hpp"

namespace hocket::transports::mpi {

/// Locks itself: operations of several threads may be under way.
class Network {
 public:
  static constexpr std::size_t longest_part = std::size_t{1} << 30U;

  explicit Network(std::unique_ptr<Port> port, std::size_t part_bytes = longest_part);
  ~Network() { close(); }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// From now on what this node's ranks send each other goes through its memory, which outlives close(). All
  /// of them do so before the first message.
  void open_mail(shm::NodeMail mail) { mail_.emplace(std::move(mail)); }
  /// Long messages between this node's ranks are read where they lie, by those that may. After open_mail().
  void open_loans(std::unique_ptr<Loans> loans) { loans_ = std::move(loans); }
  /// Long messages between this node's ranks, of so many bytes and more, go in parts through memory that both
  /// map, where reads do not pay. It outlives close(). After open_mail().
  void open_stages(std::unique_ptr<shm::NodeStages> stages, std::size_t least_bytes) {
    stages_ = std::move(stages);
    least_staged_ = std::max(least_bytes, eager_bytes + 1);
  }
  /// Long messages of others of this node to this rank.
  struct FromMates : Loans::Counts {
    std::uint64_t staged = 0;  ///< through memory that both map
  };
  FromMates from_mates() noexcept {
    const std::lock_guard lock(mutex_);
    return {loans_ ? loans_->counts() : Loans::Counts{}, staged_};
  }
  /// How many sleep until a message of their node comes; null: nobody can.
  std::atomic<std::uint32_t>* sleepers() noexcept { return mail_ ? &mail_->own().sleepers() : nullptr; }

  /// Gives the port up: whatever is under way, or comes later, fails.
  void close() noexcept;
  bool is_open() const noexcept { return port_ != nullptr; }
  const Port& port() const noexcept { return *port_; }
  /// The longest packet, of senders that see to it until it has left.
  std::size_t longest_heard() const noexcept { return longest_heard_; }

  /// Takes in what has arrived, without waiting. Good at any time; an operation does it when it lacks
  /// something.
  void progress() noexcept;

  /// Tells the members of a communicator that it is given up, and why.
  void fail(const CommunicatorId& communicator, std::span<const Rank> members,
            const std::string& text) noexcept;
  /// Whether it was, by any of its members.
  bool failed(const CommunicatorId& communicator) noexcept {
    return any_failure() && has_failure(communicator);
  }
  std::string failure(const CommunicatorId& communicator);
  /// Of any communicator.
  bool any_failure() const noexcept { return any_failure_.load(std::memory_order_acquire); }

  /// What a rank tells others of a communicator beside its calls, in words that only the engine reads.
  struct Notice {
    CommunicatorId communicator;
    Rank from = -1;
    std::vector<std::byte> words;
  };
  static constexpr std::size_t longest_notice = eager_bytes;
  /// False: it could not be sent to all of them.
  bool notify(const CommunicatorId& communicator, std::span<const Rank> members,
              std::span<const std::byte> words) noexcept;
  /// Costs a load where none has come.
  bool any_notice() const noexcept { return any_notice_.load(std::memory_order_acquire); }
  /// All that have come since.
  std::vector<Notice> take_notices() noexcept;

  /// The rank that a message could not be sent to, or received from; -1 if nobody knows.
  Rank lost() noexcept {
    const std::lock_guard lock(mutex_);
    return lost_;
  }

  /// Everything that was sent is out of this process.
  bool has_left() noexcept;

 private:
  friend class Messages;

  static constexpr std::uint32_t most_leaving = 256;
  static constexpr std::uint32_t turns_per_ask = 16;

  // messages.cpp calls these, holding the lock.
  bool take_in() noexcept;
  bool take_in_mail() noexcept;
  void take_in_seldom() noexcept;
  bool is_mate(Rank rank) noexcept { return mail_ && mail_->of(rank); }
  bool hand_over(const Envelope& envelope, std::span<const Piece> pieces, Rank to) noexcept;
  void announce_by_port(Rank to) noexcept;
  bool lend(const Envelope& envelope, std::span<const Piece> pieces, Rank to, const void* owner,
            std::uint32_t& number) noexcept;
  bool borrow(const Packet& packet, std::span<const Piece> pieces) noexcept;
  bool prefers_stage(Rank to, std::size_t bytes) noexcept;
  bool take_stage(std::size_t bytes, bool stays, const void* owner, std::uint32_t& stage) noexcept;
  static shm::NodeStages::Area next_area(const Transfer& transfer, std::uint32_t stage) noexcept;
  std::size_t send_part(const Envelope& envelope, const Transfer& transfer, Rank to,
                        std::uint32_t stage) noexcept;
  std::size_t take_part(const Packet& packet, std::span<const Piece> pieces) noexcept;
  void empty(const Packet& packet) noexcept;
  void discard(Packet* packet) noexcept;
  /// All that this process lacks comes by mail, and nothing of it is under way through the port.
  bool has_all_by_mail() noexcept {
    const shm::Mailbox* const own = own_mailbox();
    return own && lacking_ == 0 && leaving_ == 0 && flights_.none() && own->sent_elsewhere() == mates_heard_;
  }
  shm::Mailbox* own_mailbox() noexcept { return mail_ ? &mail_->own() : nullptr; }
  Status post(Packet* packet, std::size_t bytes, Rank to) noexcept;
  std::uint32_t next_tag(Rank to) noexcept;

  Status listen(std::uint32_t place) noexcept;
  std::uint32_t hear() noexcept;
  void keep(Packet* packet) noexcept;
  void keep_from_mate(Packet* packet) noexcept;
  void keep_data(Packet* packet) noexcept;
  template <class Words>
  bool hand_over_words(Envelope envelope, Envelope::Kind kind, const Words& words, Rank to) noexcept;
  void give_back(Rank to, const Return& loan) noexcept;
  void drop(const Arrivals::Address& address) noexcept;
  Packet* packet_of(Envelope::Kind kind, const CommunicatorId& communicator,
                    std::span<const std::byte> payload) noexcept;
  bool tell(Envelope::Kind kind, const CommunicatorId& communicator, Rank member,
            std::span<const std::byte> payload) noexcept;
  void keep_failure(const Packet& packet) noexcept;
  void keep_notice(const Packet& packet) noexcept;
  void see_off() noexcept;
  bool has_failure(const CommunicatorId& communicator) noexcept;

  /// An inquiry that has come; the latest ones are kept.
  struct Inquiry {
    Envelope envelope;
    Rank from = -1;
  };
  static constexpr std::size_t inquiries_kept = 64;
  void ask(const Envelope& envelope, Rank to) noexcept;
  void keep_inquiry(const Packet& inquiry) noexcept;
  void lose(Rank peer) noexcept;
  Inquiry other_call(const CommunicatorId& communicator, std::uint32_t instance,
                     std::uint32_t signature) const noexcept;  ///< from -1: none

  struct Failure {
    CommunicatorId communicator;
    std::string text;
  };

  std::mutex mutex_;
  std::unique_ptr<Port> port_;
  std::optional<shm::NodeMail> mail_;
  std::unique_ptr<Loans> loans_;             ///< null: nothing is lent
  std::unique_ptr<shm::NodeStages> stages_;  ///< null: there are none
  std::size_t least_staged_ = 0;
  std::uint64_t staged_ = 0;       ///< messages of this node's ranks that came in parts
  std::uint32_t turns_ = 0;        ///< of take_in_seldom()
  std::uint32_t lacking_ = 0;      ///< operations that lack what comes through the port
  std::uint32_t mates_heard_ = 0;  ///< messages of this node's ranks that came through the port
  const std::size_t longest_heard_;
  PacketPool pool_;
  Arrivals arrivals_;
  Flights flights_;
  std::array<Packet*, Port::places> listening_{};
  Packet* leaving_first_ = nullptr;  ///< packets whose send is not complete, oldest first
  Packet* leaving_last_ = nullptr;
  std::uint32_t leaving_ = 0;
  std::vector<std::uint32_t> tags_;     ///< of the last long message to each rank
  std::vector<std::uint32_t> answers_;  ///< to inquiries, by rank
  bool broken_ = false;                 ///< the port has failed
  Rank lost_ = -1;
  std::array<Inquiry, inquiries_kept> inquiries_{};
  std::size_t next_inquiry_ = 0;
  std::atomic<bool> any_failure_{false};
  std::vector<Failure> failures_;
  std::atomic<bool> any_notice_{false};
  std::vector<Notice> notices_;
};

}  // namespace hocket::transports::mpi
