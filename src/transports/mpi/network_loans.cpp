#include <algorithm>
#include <array>
#include <cstring>

#include "transports/mpi/network.hpp"

namespace hocket::transports::mpi {

/// Tells a rank of this node where it can read what lies in one piece. False: that cannot be, or there is no
/// room in its mailbox; then it goes another way.
bool Network::lend(const Envelope& envelope, std::span<const Piece> pieces, Rank to, const void* owner,
                   std::uint32_t& number) noexcept {
  if (!loans_ || !loans_->suit(to, envelope.bytes)) return false;
  const std::byte* const data = contiguous(pieces);
  Loan loan;
  if (!data || !loans_->lend(to, data, owner, loan)) return false;
  Envelope told = envelope;
  told.kind = Envelope::Kind::loan;
  std::array<std::byte, sizeof loan> words;
  std::memcpy(words.data(), &loan, sizeof loan);
  const Piece payload{words.data(), words.size()};
  number = loan.number;
  if (hand_over(told, {&payload, 1}, to)) return true;
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
  told.kind = Envelope::Kind::returned;
  told.bytes = sizeof loan;
  const auto words = std::as_bytes(std::span<const Return>(&loan, 1));
  std::array<std::byte, sizeof loan> copy;
  std::ranges::copy(words, copy.begin());
  const Piece payload{copy.data(), copy.size()};
  if (hand_over(told, {&payload, 1}, to)) return;
  if (tell(Envelope::Kind::returned, {}, to, words))
    announce_by_port(to);
  else
    broken_ = true;
}

void Network::keep_from_mate(Packet* packet) noexcept {
  if (packet->envelope.kind != Envelope::Kind::returned) return keep_data(packet);
  if (loans_) loans_->take_back(words_of<Return>(*packet));
  pool_.give_back(packet);
}

}  // namespace hocket::transports::mpi
