// Between ranks of one node: envelopes by mailbox, and what they say of long messages.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/copy.hpp"
#include "transports/mpi/network.hpp"
#include "transports/pieces.hpp"

namespace hocket::transports::mpi {

using shm::NodeStages;

/// An envelope of this kind with these words. False: there is no room in the mailbox.
template <class Words>
bool Network::hand_over_words(Envelope envelope, Envelope::Kind kind, const Words& words, Rank to) noexcept {
  envelope.kind = kind;
  std::array<std::byte, sizeof words> copy;
  std::memcpy(copy.data(), &words, sizeof words);
  const Piece payload{copy.data(), copy.size()};
  return hand_over(envelope, {&payload, 1}, to);
}

/// Tells a rank of this node where it can read what lies in one piece. False: that cannot be, or there is no
/// room in its mailbox; then it goes another way.
bool Network::lend(const Envelope& envelope, std::span<const Piece> pieces, Rank to, const void* owner,
                   std::uint32_t& number) noexcept {
  if (!loans_ || !loans_->suit(to, envelope.bytes)) return false;
  const std::byte* const data = contiguous(pieces);
  Loan loan;
  if (!data || !loans_->lend(to, data, owner, loan)) return false;
  number = loan.number;
  if (hand_over_words(envelope, Envelope::Kind::loan, loan, to)) return true;
  loans_->withdraw(loan.number);
  return false;
}

/// Reads what this packet lends, and says whether it could.
bool Network::borrow(const Packet& packet, std::span<const Piece> pieces) noexcept {
  const Loan loan = words_of<Loan>(packet);
  const bool was_read = loans_ && loans_->read(packet.from, loan, pieces);
  give_back(packet.from, {loan.number, was_read ? 1U : 0U});
  return was_read;
}

/// By mail, or by the port where there is no room. Its owner waits for it.
void Network::give_back(Rank to, const Return& loan) noexcept {
  Envelope told;
  told.bytes = sizeof loan;
  if (hand_over_words(told, Envelope::Kind::returned, loan, to)) return;
  if (tell(Envelope::Kind::returned, {}, to, std::as_bytes(std::span<const Return>(&loan, 1))))
    announce_by_port(to);
  else
    broken_ = true;
}

/// Rather than being lent: where reads do not pay. Who leaves MPI before its message has gone can fill one
/// stage, but nobody fills it again.
bool Network::prefers_stage(Rank to, std::size_t bytes) noexcept {
  return !loans_ || !loans_->suit(to, bytes) || !loans_->pay();
}

/// False: there is none for such a message now.
bool Network::take_stage(std::size_t bytes, bool stays, const void* owner, std::uint32_t& stage) noexcept {
  if (!stages_ || bytes < least_staged_ || (!stays && bytes > NodeStages::stage_bytes)) return false;
  return stages_->take(owner, stage);
}

NodeStages::Area Network::next_area(const Transfer& transfer, std::uint32_t stage) noexcept {
  const auto turn = static_cast<std::uint32_t>(transfer.done / NodeStages::area_bytes);
  return {stage, turn % NodeStages::depth};
}

/// The next bytes of a message that has this stage: how many. 0: its next area has not been read yet, or the
/// receiver's mailbox is full.
std::size_t Network::send_part(const Envelope& envelope, const Transfer& transfer, Rank to,
                               std::uint32_t stage) noexcept {
  const std::size_t bytes = std::min(NodeStages::area_bytes, transfer.total - transfer.done);
  const NodeStages::Area area = next_area(transfer, stage);
  if (!stages_->is_empty(area)) return 0;
  std::byte* at = stages_->data(area);
  walk_pieces(transfer.pieces, transfer.done, bytes, [&](Piece piece) {
    copy_bytes(at, piece.data, piece.bytes);
    at += piece.bytes;
    return true;
  });
  stages_->fill(area);
  if (hand_over_words(envelope, Envelope::Kind::part, Part{transfer.done, bytes, stage, area.number}, to))
    return bytes;
  stages_->take_back(area);
  return 0;
}

/// Copies a part out: so many bytes.
std::size_t Network::take_part(const Packet& packet, std::span<const Piece> pieces) noexcept {
  const Part part = words_of<Part>(packet);
  const std::byte* at = stages_->data_of(packet.from, {part.stage, part.area});
  walk_pieces(pieces, part.offset, part.bytes, [&](Piece piece) {
    copy_bytes(piece.data, at, piece.bytes);
    at += piece.bytes;
    return true;
  });
  empty(packet);
  if (part.offset == 0) ++staged_;
  return part.bytes;
}

/// Its owner may sleep until it hears of an area that it awaits. Where its mailbox is full it does not.
void Network::empty(const Packet& packet) noexcept {
  const Part part = words_of<Part>(packet);
  if (!stages_->empty(packet.from, {part.stage, part.area})) return;
  Envelope told;
  told.kind = Envelope::Kind::emptied;
  hand_over(told, {}, packet.from);
}

/// What nobody will take.
void Network::discard(Packet* packet) noexcept {
  if (packet->envelope.kind == Envelope::Kind::part) empty(*packet);
  pool_.give_back(packet);
}

void Network::keep_from_mate(Packet* packet) noexcept {
  const Envelope::Kind kind = packet->envelope.kind;
  if (kind != Envelope::Kind::returned && kind != Envelope::Kind::emptied) return keep_data(packet);
  if (kind == Envelope::Kind::returned && loans_) loans_->take_back(words_of<Return>(*packet));
  pool_.give_back(packet);
}

}  // namespace hocket::transports::mpi
