#include "transports/mpi/loans.hpp"

#include <algorithm>
#include <utility>

namespace hocket::transports::mpi {

Loans::Loans(shm::NodeRanks mates, std::unique_ptr<PeerMemory> memory, std::size_t least_bytes,
             std::function<bool()> pay)
    : mates_(std::move(mates)),
      memory_(std::move(memory)),
      least_bytes_(std::max(least_bytes, eager_bytes + 1)),
      measure_(std::move(pay)),
      cannot_read_(mates_.size()),
      reads_(mates_.size()) {}

bool Loans::suit(Rank to, std::size_t bytes) const noexcept {
  if (bytes < least_bytes_) return false;
  const Rank place = mates_.place_of(to);
  return place >= 0 && !cannot_read_[static_cast<std::size_t>(place)];
}

bool Loans::pay() noexcept {
  if (!pay_) pay_ = measure_();
  return *pay_;
}

bool Loans::lend(Rank to, const std::byte* data, const void* owner, Loan& loan) noexcept {
  if (!std::exchange(is_admitting_, true)) memory_->admit();
  const std::uint32_t number = last_ = last_ == greatest_number ? 1 : last_ + 1;
  try {
    lent_.push_back({number, mates_.place_of(to), owner, State::lent});
  } catch (...) {
    return false;
  }
  loan = {reinterpret_cast<std::uintptr_t>(data), number};
  return true;
}

Status Loans::look(std::uint32_t number) noexcept {
  const auto found = std::ranges::find(lent_, number, &Lent::number);
  if (found == lent_.end()) return Status::failed;
  if (found->state == State::lent) return Status::pending;
  const Status s = found->state == State::read ? Status::ok : Status::failed;
  *found = lent_.back();
  lent_.pop_back();
  return s;
}

void Loans::take_back(const Return& returned) noexcept {
  const auto found = std::ranges::find(lent_, returned.number, &Lent::number);
  if (found == lent_.end()) return;
  found->state = returned.was_read ? State::read : State::unreadable;
  if (!returned.was_read) cannot_read_[static_cast<std::size_t>(found->place)] = 1;
}

void Loans::withdraw(std::uint32_t number) noexcept {
  std::erase_if(lent_, [&](const Lent& one) { return one.number == number; });
}

void Loans::abandon(const void* owner) noexcept {
  std::erase_if(lent_, [&](const Lent& one) { return one.owner == owner; });
}

/// Before the first read: a number of a process may name another one here.
bool Loans::can_read(Rank place) noexcept {
  if (place < 0) return false;
  Reads& reads = reads_[static_cast<std::size_t>(place)];
  if (reads == Reads::untried) reads = memory_->is_readable(place) ? Reads::yes : Reads::no;
  return reads == Reads::yes;
}

bool Loans::read(Rank from, const Loan& loan, std::span<const Piece> pieces) noexcept {
  const Rank place = mates_.place_of(from);
  std::uint64_t address = loan.address;
  const bool all = can_read(place) && std::ranges::all_of(pieces, [&](const Piece& piece) {
                     if (piece.bytes != 0 && memory_->read(place, address, piece) != Status::ok) return false;
                     address += piece.bytes;
                     return true;
                   });
  ++(all ? counts_.read : counts_.unreadable);
  return all;
}

}  // namespace hocket::transports::mpi
