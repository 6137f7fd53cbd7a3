#include "transports/mpi/messages.hpp"

#include <algorithm>

namespace hocket::transports::mpi {

namespace {

constexpr std::uint32_t looks_in_a_row = 4;

/// Transfer::state: the message's number, counted from 1, in the low half; in the high one the flight's, too,
/// or, under a mark, that of the loan or the stage.
constexpr std::uint64_t loan_mark = std::uint64_t{1} << 63U;
constexpr std::uint64_t stage_mark = std::uint64_t{1} << 62U;

constexpr std::uint32_t number_in(std::uint64_t state) noexcept {
  return static_cast<std::uint32_t>(state);
}
constexpr std::uint32_t flight_in(std::uint64_t state) noexcept {
  return static_cast<std::uint32_t>(state >> 32U) - 1;
}
constexpr std::uint32_t loan_in(std::uint64_t state) noexcept {
  return static_cast<std::uint32_t>((state & ~loan_mark) >> 32U);
}
constexpr std::uint32_t stage_in(std::uint64_t state) noexcept {
  return static_cast<std::uint32_t>((state & ~stage_mark) >> 32U);
}
constexpr bool has_loan(std::uint64_t state) noexcept {
  return (state & loan_mark) != 0;
}
constexpr bool has_stage(std::uint64_t state) noexcept {
  return !has_loan(state) && (state & stage_mark) != 0;
}
constexpr bool has_flight(std::uint64_t state) noexcept {
  return state >> 32U != 0 && !has_loan(state) && !has_stage(state);
}
void set_flight(std::uint64_t& state, std::uint32_t flight) noexcept {
  state |= static_cast<std::uint64_t>(flight + 1) << 32U;
}
void set_loan(std::uint64_t& state, std::uint32_t loan) noexcept {
  state |= loan_mark | static_cast<std::uint64_t>(loan) << 32U;
}
void set_stage(std::uint64_t& state, std::uint32_t stage) noexcept {
  state |= stage_mark | static_cast<std::uint64_t>(stage) << 32U;
}

}  // namespace

Messages::Messages(Network& network, const CommunicatorId& communicator, std::span<const Rank> members,
                   bool stays)
    : network_(network),
      communicator_(communicator),
      members_(members),
      stays_(stays),
      longest_packet_(stays ? network.longest_heard() : unattended_bytes),
      numbers_(members.size()),
      mates_(members.size()) {
  std::ranges::transform(members, mates_.begin(), [&](Rank member) { return network.is_mate(member); });
}

void Messages::begin(std::uint32_t instance, std::uint32_t signature, const CallWords& call) noexcept {
  instance_ = instance;
  signature_ = signature;
  call_ = call;
  std::ranges::fill(numbers_, Numbers{});
}

void Messages::abandon() noexcept {
  const std::lock_guard lock(network_.mutex_);
  set_lacks_others(false);
  network_.flights_.abandon(this);
  if (network_.loans_) network_.loans_->abandon(this);
  if (network_.stages_) network_.stages_->release_all_of(this);
}

void Messages::set_lacks_others(bool lacks) noexcept {
  if (lacks == lacks_others_) return;
  lacks_others_ = lacks;
  lacks ? ++network_.lacking_ : --network_.lacking_;
}

/// Most looks find nothing, where many ranks share few cores; and to come back here for each of them, through
/// a program that is in no cache any more, costs as much as the look.
void Messages::take_in() noexcept {
  for (std::uint32_t looks = stays_ ? looks_in_a_row : 1;;) {
    const std::lock_guard lock(network_.mutex_);
    if (!lacks_others_) return network_.take_in_seldom();
    if (network_.take_in() || --looks == 0) return set_lacks_others(false);
  }
}

Status Messages::end(Transfer& transfer) noexcept {
  transfer.started = true;
  transfer.done = transfer.total;
  return Status::ok;
}

Status Messages::advance_send(Transfer& transfer) noexcept {
  const std::lock_guard lock(network_.mutex_);
  if (transfer.state == 0) transfer.state = ++numbers(transfer.peer).sent;
  if (has_loan(transfer.state)) {
    if (const Status s = await_return(transfer); s != Status::ok || transfer.started) return s;
  }
  if (has_stage(transfer.state)) return send_parts(transfer);
  if (!has_flight(transfer.state)) {
    const Status s = start_send(transfer);
    if (s != Status::ok || transfer.started) return s;
  }
  return fly(transfer);
}

Envelope Messages::envelope() const noexcept {
  Envelope e;
  e.communicator = communicator_;
  e.instance = instance_;
  e.signature = signature_;
  e.call = call_;
  return e;
}

Envelope Messages::envelope_of(const Transfer& transfer) const noexcept {
  Envelope e = envelope();
  e.number = number_in(transfer.state);
  e.bytes = transfer.total;
  return e;
}

Arrivals::Address Messages::address_of(const Transfer& transfer) const noexcept {
  return {communicator_, instance_, number_in(transfer.state), world(transfer.peer)};
}

void Messages::ask(Rank peer) noexcept {
  const std::lock_guard lock(network_.mutex_);
  network_.ask(envelope(), world(peer));
}

std::uint32_t Messages::answers_of(Rank peer) noexcept {
  const std::lock_guard lock(network_.mutex_);
  return network_.answers_[static_cast<std::size_t>(world(peer))];
}

bool Messages::finds_other_call() noexcept {
  const std::lock_guard lock(network_.mutex_);
  network_.take_in();
  const Network::Inquiry other = network_.other_call(communicator_, instance_, signature_);
  const auto member = std::ranges::find(members_, other.from);
  if (member == members_.end()) return false;
  disagreement_ = {static_cast<Rank>(member - members_.begin()), false, 0, 0, other.envelope.call, -1};
  return true;
}

Status Messages::start_send(Transfer& transfer) noexcept {
  if (network_.broken_) return Status::failed;
  const Envelope e = envelope_of(transfer);
  const Rank to = world(transfer.peer);
  const std::size_t whole = sizeof e + transfer.total;
  if (is_mate(transfer.peer) && start_near(e, transfer))
    return has_stage(transfer.state) ? send_parts(transfer) : Status::pending;
  if (whole <= packet_bytes && is_mate(transfer.peer) && network_.hand_over(e, transfer.pieces, to))
    return end(transfer);
  if (network_.leaving_ >= Network::most_leaving) return Status::pending;
  if (transfer.total <= eager_bytes) return send_unattended(e, transfer);
  std::uint32_t flight = 0;
  // What follows an envelope in a mate's mailbox wakes the mate; what comes by the port does not.
  const bool is_in_one = whole <= longest_packet_ && !is_mate(transfer.peer);
  const Status s = is_in_one ? send_attended(e, to, transfer, flight) : send_after(e, to, transfer, flight);
  if (s == Status::ok)
    set_flight(transfer.state, flight);
  else if (s == Status::failed)
    network_.lose(to);
  return s;
}

/// Long data between ranks of a node: through memory that both map, or read where they lie. False: they go
/// another way.
bool Messages::start_near(const Envelope& e, Transfer& transfer) noexcept {
  const Rank to = world(transfer.peer);
  const bool prefers_stage = network_.prefers_stage(to, transfer.total);
  if (prefers_stage && start_parts(e, transfer)) return true;
  std::uint32_t loan = 0;
  if (network_.lend(e, transfer.pieces, to, this, loan)) {
    set_loan(transfer.state, loan);
    return true;
  }
  return !prefers_stage && start_parts(e, transfer);
}

/// The first of them, so that whoever has a stage has told its receiver.
bool Messages::start_parts(const Envelope& e, Transfer& transfer) noexcept {
  std::uint32_t stage = 0;
  if (!network_.take_stage(transfer.total, stays_, this, stage)) return false;
  transfer.done = network_.send_part(e, transfer, world(transfer.peer), stage);
  if (transfer.done == 0) {
    network_.stages_->release(stage);
    return false;
  }
  set_stage(transfer.state, stage);
  return true;
}

/// As far as there is room.
Status Messages::send_parts(Transfer& transfer) noexcept {
  if (network_.broken_) return Status::failed;
  const Envelope e = envelope_of(transfer);
  const std::uint32_t stage = stage_in(transfer.state);
  while (transfer.done < transfer.total) {
    const std::size_t sent = network_.send_part(e, transfer, world(transfer.peer), stage);
    if (sent == 0) return Status::pending;
    transfer.done += sent;
  }
  network_.stages_->release(stage);
  return end(transfer);
}

/// ok: it has ended, or it has to be sent another way.
Status Messages::await_return(Transfer& transfer) noexcept {
  if (network_.broken_) return Status::failed;
  const Status s = network_.loans_->look(loan_in(transfer.state));
  if (s == Status::pending) return s;
  transfer.state = number_in(transfer.state);
  return s == Status::ok ? end(transfer) : Status::ok;
}

Status Messages::send_unattended(const Envelope& e, Transfer& transfer) noexcept {
  Packet* packet = network_.pool_.take();
  if (!packet) return Status::no_memory;
  packet->envelope = e;
  gather_pieces(transfer.pieces, packet->payload.data());
  const Status s = network_.post(packet, sizeof(Envelope) + transfer.total, world(transfer.peer));
  if (s != Status::ok) return s;
  network_.announce_by_port(world(transfer.peer));
  return end(transfer);
}

Status Messages::send_attended(const Envelope& e, Rank to, const Transfer& transfer,
                               std::uint32_t& flight) noexcept {
  const Status s = network_.flights_.begin(e, to, transfer.pieces, this, flight);
  if (s == Status::ok) network_.announce_by_port(to);
  return s;
}

/// The data follow their envelope.
Status Messages::send_after(const Envelope& e, Rank to, const Transfer& transfer,
                            std::uint32_t& flight) noexcept {
  Envelope tagged = e;
  tagged.tag = network_.next_tag(to);
  if (const Status s = send_alone(tagged, to); s != Status::ok) return s;
  return network_.flights_.begin({to, tagged.tag, false}, transfer.pieces, transfer.total, this, flight);
}

Status Messages::send_alone(const Envelope& e, Rank to) noexcept {
  if (network_.is_mate(to) && network_.hand_over(e, {}, to)) return Status::ok;
  Packet* packet = network_.pool_.take();
  if (!packet) return Status::no_memory;
  packet->envelope = e;
  const Status s = network_.post(packet, sizeof(Envelope), to);
  if (s == Status::ok) network_.announce_by_port(to);
  return s;
}

Status Messages::advance_recv(Transfer& transfer) noexcept {
  const std::lock_guard lock(network_.mutex_);
  if (transfer.state == 0) transfer.state = ++numbers(transfer.peer).received;
  if (!has_flight(transfer.state)) {
    const Status s = start_recv(transfer);
    if (s == Status::pending && !is_mate(transfer.peer)) set_lacks_others(true);
    if (s != Status::ok || transfer.started) return s;
  }
  return fly(transfer);
}

void Messages::drop(Rank peer) noexcept {
  const std::lock_guard lock(network_.mutex_);
  network_.drop({communicator_, instance_, ++numbers(peer).received, world(peer)});
}

/// A loan comes back by mail, and so does the word that an awaited area is empty: asked for after the mailbox
/// was looked at, or a sleeper might miss it. Whoever has an empty one waits for room in its peer's mailbox.
Blocker Messages::send_blocker(const Transfer& transfer) const noexcept {
  const Blocker nothing{nullptr, 0, transfer.peer};
  const bool is_staged = has_stage(transfer.state);
  if (!is_staged && !has_loan(transfer.state)) return nothing;
  const std::lock_guard lock(network_.mutex_);
  if (!network_.has_all_by_mail()) return nothing;
  const Blocker mail = network_.own_mailbox()->blocker(transfer.peer);
  if (!is_staged) return mail;
  const auto area = Network::next_area(transfer, stage_in(transfer.state));
  return network_.stages_->await(area) ? mail : nothing;
}

/// Long data come through the port, and so does what has found the mailbox full.
Blocker Messages::recv_blocker(const Transfer& transfer) const noexcept {
  const std::lock_guard lock(network_.mutex_);
  if (is_mate(transfer.peer) && !has_flight(transfer.state) && network_.has_all_by_mail())
    return network_.own_mailbox()->blocker(transfer.peer);
  return {nullptr, 0, transfer.peer};
}

Status Messages::start_recv(Transfer& transfer) noexcept {
  Packet* packet = network_.arrivals_.take(address_of(transfer));
  if (!packet) return network_.broken_ ? Status::failed : Status::pending;
  const Envelope e = packet->envelope;
  const Status accepted = accept(e, transfer);
  if (accepted == Status::ok && e.kind == Envelope::Kind::part) return recv_parts(packet, transfer);
  const bool is_loan = e.kind == Envelope::Kind::loan;
  const bool is_here = accepted == Status::ok && e.tag == 0 && take_out(*packet, transfer);
  if (accepted != Status::ok) return network_.discard(packet), accepted;
  network_.pool_.give_back(packet);
  if (is_here) return end(transfer);
  if (is_loan) return Status::pending;  // it comes once more, another way
  std::uint32_t flight = 0;
  const Status s = network_.flights_.begin({world(transfer.peer), e.tag, true}, transfer.pieces,
                                           transfer.total, this, flight);
  set_flight(transfer.state, flight);
  return s;
}

/// Those that have come, in whichever order.
Status Messages::recv_parts(Packet* first, Transfer& transfer) noexcept {
  for (Packet* packet = first; packet; packet = network_.arrivals_.take(address_of(transfer))) {
    transfer.done += network_.take_part(*packet, transfer.pieces);
    network_.pool_.give_back(packet);
  }
  return transfer.done == transfer.total ? end(transfer) : Status::pending;
}

/// Of what comes with its envelope, or is lent. False: it cannot be read.
bool Messages::take_out(const Packet& packet, const Transfer& transfer) noexcept {
  if (packet.envelope.kind == Envelope::Kind::loan) return network_.borrow(packet, transfer.pieces);
  scatter_pieces(packet.payload.data(), transfer.pieces);
  return true;
}

Status Messages::accept(const Envelope& e, const Transfer& transfer) noexcept {
  const bool same_call = e.signature == signature_;
  if (same_call && e.bytes == transfer.total) return Status::ok;
  disagreement_ = {transfer.peer, same_call, e.bytes, transfer.total, e.call, -1};
  return Status::mismatch;
}

/// The port of a broken network may be gone, and the flight with it.
Status Messages::fly(Transfer& transfer) noexcept {
  if (network_.broken_) return Status::failed;
  const Status s = network_.flights_.advance(flight_in(transfer.state), transfer.pieces);
  if (s != Status::ok && s != Status::pending) network_.lose(world(transfer.peer));
  if (s == Status::pending) set_lacks_others(true);
  return s == Status::ok ? end(transfer) : s;
}

}  // namespace hocket::transports::mpi
