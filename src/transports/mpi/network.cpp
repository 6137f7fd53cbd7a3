#include "transports/mpi/network.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace hocket::transports::mpi {

Network::Network(std::unique_ptr<Port> port, std::size_t part_bytes)
    : port_(std::move(port)),
      longest_heard_(std::min({port_->longest_heard(), packet_bytes, part_bytes})),
      flights_(*port_, part_bytes),
      tags_(static_cast<std::size_t>(port_->ranks())),
      answers_(tags_.size()) {
  for (std::uint32_t place = 0; place < Port::places; ++place)
    if (listen(place) != Status::ok) throw Error("the MPI cannot receive messages for Hocket");
}

/// The port ends the receives of envelopes itself, before their packets go.
void Network::close() noexcept {
  const std::lock_guard lock(mutex_);
  if (!port_) return;
  broken_ = true;
  flights_.abandon_all();
  for (Packet* left = leaving_first_; left; left = left->next) port_->abandon(left->ticket);
  leaving_first_ = leaving_last_ = nullptr;
  mail_.reset();
  port_.reset();
}

Status Network::listen(std::uint32_t place) noexcept {
  Packet* packet = pool_.take();
  listening_[place] = packet;
  return packet ? port_->listen(place, packet, packet_bytes) : Status::no_memory;
}

void Network::progress() noexcept {
  const std::lock_guard lock(mutex_);
  take_in();
}

/// For who lacks messages of this node's ranks alone.
void Network::take_in_seldom() noexcept {
  if (!has_all_by_mail() || ++turns_ % turns_per_ask == 0)
    take_in();
  else
    take_in_mail();
}

/// Where there is no memory for more, they stay in the mailbox. False: there was nothing.
bool Network::take_in_mail() noexcept {
  static_assert(shm::Mailbox::longest <= packet_bytes);
  shm::Mailbox* const own = own_mailbox();
  bool has_any = false;
  while (const shm::Mailbox::Message* message = own ? own->front() : nullptr) {
    Packet* const packet = pool_.take();
    if (!packet) return has_any;
    std::memcpy(static_cast<void*>(packet), message->data, message->bytes);
    packet->from = message->from;
    own->drop();
    keep_from_mate(packet);
    has_any = true;
  }
  return has_any;
}

/// Into the mailbox of a rank of this node. False: there is no room, or it is too long, so it goes through
/// the port.
bool Network::hand_over(const Envelope& envelope, std::span<const Piece> pieces, Rank to) noexcept {
  std::size_t bytes = sizeof envelope;
  for (const Piece& piece : pieces) bytes += piece.bytes;
  if (!mail_ || bytes > shm::Mailbox::longest) return false;
  shm::Mailbox* const box = mail_->of(to);
  return box && box->put(mail_->self(), bytes, [&](std::byte* data) {
    std::memcpy(data, &envelope, sizeof envelope);
    gather_pieces(pieces, data + sizeof envelope);
  });
}

/// A rank of this node has to ask its port for a message.
void Network::announce_by_port(Rank to) noexcept {
  if (shm::Mailbox* const box = mail_ ? mail_->of(to) : nullptr) box->send_elsewhere();
}

/// A broken network still sends what says why, and takes in what has come: a peer may have said it. False:
/// nothing has changed.
bool Network::take_in() noexcept {
  if (!port_) return true;
  bool has_any = take_in_mail();
  for (std::uint32_t heard = Port::places; heard == Port::places; has_any = true) {
    const Status found = port_->look();
    if (found == Status::pending) break;
    broken_ = found != Status::ok || broken_;
    see_off();
    heard = hear();
  }
  return has_any;
}

/// As many as there are places: more may have come.
std::uint32_t Network::hear() noexcept {
  std::uint32_t place = 0, heard = 0;
  for (Rank from = 0; port_->heard(place, from); ++heard) {
    Packet* packet = listening_[place];
    packet->from = from;
    broken_ = listen(place) != Status::ok || broken_;
    keep(packet);
  }
  return heard;
}

void Network::keep(Packet* packet) noexcept {
  using Kind = Envelope::Kind;
  const Kind kind = packet->envelope.kind;
  if (kind == Kind::data || kind == Kind::loan || kind == Kind::returned) {
    if (is_mate(packet->from)) ++mates_heard_;
    return keep_from_mate(packet);
  }
  if (packet->envelope.kind == Envelope::Kind::failure)
    keep_failure(*packet);
  else if (packet->envelope.kind == Envelope::Kind::notice)
    keep_notice(*packet);
  else if (packet->envelope.kind == Envelope::Kind::answer)
    ++answers_[static_cast<std::size_t>(packet->from)];
  else
    keep_inquiry(*packet);
  pool_.give_back(packet);
}

void Network::keep_data(Packet* packet) noexcept {
  if (arrivals_.is_unwanted(*packet)) return discard(packet);
  arrivals_.add(packet);
}

/// Now, or when it comes.
void Network::drop(const Arrivals::Address& address) noexcept {
  if (Packet* const packet = arrivals_.take(address)) return discard(packet);
  if (port_) arrivals_.refuse(address);
}

/// Whoever asks learns that this process still looks at its messages.
void Network::keep_inquiry(const Packet& inquiry) noexcept {
  inquiries_[next_inquiry_++ % inquiries_kept] = {inquiry.envelope, inquiry.from};
  Packet* packet = leaving_ < most_leaving ? pool_.take() : nullptr;
  if (!packet) return;
  packet->envelope = {};
  packet->envelope.kind = Envelope::Kind::answer;
  post(packet, sizeof(Envelope), inquiry.from);
}

void Network::ask(const Envelope& envelope, Rank to) noexcept {
  Packet* packet = port_ && to != port_->rank() ? pool_.take() : nullptr;
  if (!packet) return;
  packet->envelope = envelope;
  packet->envelope.kind = Envelope::Kind::inquiry;
  post(packet, sizeof(Envelope), to);
}

Network::Inquiry Network::other_call(const CommunicatorId& communicator, std::uint32_t instance,
                                     std::uint32_t signature) const noexcept {
  if (const Packet* packet = arrivals_.other_call(communicator, instance, signature))
    return {packet->envelope, packet->from};
  for (const Inquiry& inquiry : inquiries_)
    if (inquiry.from >= 0 && is_other_call(inquiry.envelope, communicator, instance, signature))
      return inquiry;
  return {};
}

void Network::keep_failure(const Packet& packet) noexcept {
  try {
    const auto* text = reinterpret_cast<const char*>(packet.payload.data());
    failures_.push_back({packet.envelope.communicator, {text, packet.envelope.bytes}});
  } catch (...) {
    broken_ = true;  // the reason is lost, not that there is one
  }
  any_failure_.store(true, std::memory_order_release);
}

void Network::keep_notice(const Packet& packet) noexcept {
  try {
    const auto words = std::span(packet.payload).first(packet.envelope.bytes);
    notices_.push_back({packet.envelope.communicator, packet.from, {words.begin(), words.end()}});
  } catch (...) {
    broken_ = true;  // somebody waits for it
  }
  any_notice_.store(true, std::memory_order_release);
}

/// Sends `bytes` of the packet, which is the network's from now on. pending: too many have not left yet.
Status Network::post(Packet* packet, std::size_t bytes, Rank to) noexcept {
  Status s = port_->send(packet, bytes, to, 0, packet->ticket);
  if (s == Status::ok) s = port_->test(packet->ticket);  // mostly it has left already
  if (s != Status::pending) {
    if (s != Status::ok) lose(to);
    pool_.give_back(packet);
    return s;
  }
  packet->from = to;
  (leaving_last_ ? leaving_last_->next : leaving_first_) = packet;
  leaving_last_ = packet;
  packet->next = nullptr;
  ++leaving_;
  return Status::ok;
}

void Network::see_off() noexcept {
  while (leaving_first_) {
    const Status s = port_->test(leaving_first_->ticket);
    if (s == Status::pending) return;
    Packet* gone = leaving_first_;
    if (s != Status::ok) lose(gone->from);
    broken_ = broken_ || s != Status::ok;
    leaving_first_ = gone->next;
    if (!leaving_first_) leaving_last_ = nullptr;
    --leaving_;
    pool_.give_back(gone);
  }
}

/// Only the first of several errors: the others may come of it.
void Network::lose(Rank peer) noexcept {
  if (lost_ < 0) lost_ = peer;
}

bool Network::has_left() noexcept {
  const std::lock_guard lock(mutex_);
  take_in();
  return !leaving_first_;
}

std::uint32_t Network::next_tag(Rank to) noexcept {
  std::uint32_t& last = tags_[static_cast<std::size_t>(to)];
  last = last >= port_->last_tag() ? 1 : last + 1;
  return last;
}

/// What does not fit is cut off.
Packet* Network::packet_of(Envelope::Kind kind, const CommunicatorId& communicator,
                           std::span<const std::byte> payload) noexcept {
  Packet* packet = pool_.take();
  if (!packet) return nullptr;
  packet->envelope = {};
  packet->envelope.communicator = communicator;
  packet->envelope.kind = kind;
  packet->envelope.bytes = std::min(payload.size(), eager_bytes);
  std::memcpy(packet->payload.data(), payload.data(), packet->envelope.bytes);
  return packet;
}

bool Network::tell(Envelope::Kind kind, const CommunicatorId& communicator, Rank member,
                   std::span<const std::byte> payload) noexcept {
  Packet* const packet = port_ ? packet_of(kind, communicator, payload) : nullptr;
  return packet && post(packet, sizeof(Envelope) + packet->envelope.bytes, member) == Status::ok;
}

void Network::fail(const CommunicatorId& communicator, std::span<const Rank> members,
                   const std::string& text) noexcept {
  const std::lock_guard lock(mutex_);
  const auto words = std::as_bytes(std::span(text));
  if (Packet* packet = packet_of(Envelope::Kind::failure, communicator, words)) keep(packet);
  for (const Rank member : members)
    if (port_ && member != port_->rank()) tell(Envelope::Kind::failure, communicator, member, words);
}

bool Network::notify(const CommunicatorId& communicator, std::span<const Rank> members,
                     std::span<const std::byte> words) noexcept {
  const std::lock_guard lock(mutex_);
  bool told = true;
  for (const Rank member : members)
    if (port_ && member != port_->rank())
      told = tell(Envelope::Kind::notice, communicator, member, words) && told;
  return told;
}

std::vector<Network::Notice> Network::take_notices() noexcept {
  const std::lock_guard lock(mutex_);
  any_notice_.store(false, std::memory_order_release);
  return std::exchange(notices_, {});
}

bool Network::has_failure(const CommunicatorId& communicator) noexcept {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(failures_, [&](const Failure& f) { return f.communicator == communicator; });
}

std::string Network::failure(const CommunicatorId& communicator) {
  const std::lock_guard lock(mutex_);
  for (const Failure& f : failures_)
    if (f.communicator == communicator) return f.text;
  return "a message between nodes could not be sent or received";
}

}  // namespace hocket::transports::mpi
