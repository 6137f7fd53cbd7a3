#include "transports/shm/cells.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "base/copy.hpp"
#include "transports/pieces.hpp"

namespace hocket::transports::shm {

namespace {

constexpr std::size_t per_rank_bytes = 1024 * 1024;
constexpr std::size_t line = 64;
constexpr std::size_t short_bytes = 48;

/// Calls use(piece) for the next bytes of a transfer, until that says no.
template <class Use>
bool walk(const Transfer& transfer, std::size_t bytes, Use use) noexcept {
  return walk_pieces(transfer.pieces, transfer.done, bytes, use);
}

/// What comes next of a transfer and lies in one piece.
Piece next_run(const Transfer& transfer) noexcept {
  Piece run;
  walk(transfer, transfer.total - transfer.done, [&](Piece first) { return run = first, false; });
  return run;
}

/// In Transfer::state: a loan, by the number of its cell.
constexpr std::uint64_t lent = std::uint64_t{1} << 32U;

enum class Content : std::uint16_t { data, data_and_question, loan };

struct Loan {
  std::uint64_t address;
  std::uint64_t bytes;
};

}  // namespace

struct alignas(line) Cells::Pair {
  std::atomic<std::uint32_t> read;  ///< cells that the receiver has read
  std::atomic<Loans> answer;        ///< the receiver's: accepted or refused
};

struct alignas(line) Cells::Cell {
  std::atomic<std::uint32_t> number;  ///< of this cell in its stream, from 1; written last
  Content content;
  std::uint16_t bytes;  ///< of data in this cell
  std::uint64_t stamp;  ///< signature of the call, mixed with the bytes of the message
  union {
    std::array<std::byte, short_bytes> short_data;
    Loan loan;
  };

  std::byte* data() noexcept {
    return bytes <= short_bytes ? short_data.data() : reinterpret_cast<std::byte*>(this) + line;
  }
};

std::size_t cell_bytes(Rank ranks) {
  const std::size_t share = per_rank_bytes / (static_cast<std::size_t>(ranks) * cells_per_pair);
  return std::clamp<std::size_t>(share / line * line, 1024, 16 * 1024);
}

std::size_t cells_bytes(Rank ranks) {
  const auto pairs = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
  return pairs * (line + cells_per_pair * (line + cell_bytes(ranks)));
}

Cells::Cells(std::byte* memory, Rank ranks, Rank rank, const Waiting& waiting, PeerMemory* peers)
    : memory_(memory),
      payload_(cell_bytes(ranks)),
      ranks_(ranks),
      rank_(rank),
      waiting_(waiting),
      peers_(peers),
      streams_(static_cast<std::size_t>(ranks)) {
  static_assert(sizeof(Pair) == line && sizeof(Cell) == line);
}

Cells::Pair& Cells::pair(Rank sender, Rank receiver) const noexcept {
  const std::size_t index = static_cast<std::size_t>(sender) * static_cast<std::size_t>(ranks_) +
                            static_cast<std::size_t>(receiver);
  return *reinterpret_cast<Pair*>(memory_ + index * (line + cells_per_pair * (line + payload_)));
}

Cells::Cell& Cells::cell(Rank sender, Rank receiver, std::uint32_t index) const noexcept {
  std::byte* first = reinterpret_cast<std::byte*>(&pair(sender, receiver)) + line;
  return *reinterpret_cast<Cell*>(first + (index % cells_per_pair) * (line + payload_));
}

/// All cells up to this number.
bool Cells::has_read(Stream& stream, Rank peer, std::uint32_t number) const noexcept {
  if (static_cast<std::int32_t>(stream.read_by_peer - number) >= 0) return true;
  stream.read_by_peer = pair(rank_, peer).read.load(std::memory_order_acquire);
  return static_cast<std::int32_t>(stream.read_by_peer - number) >= 0;
}

Status Cells::advance_send(Transfer& transfer) noexcept {
  Stream& stream = streams_[static_cast<std::size_t>(transfer.peer)];
  while (!transfer.started || transfer.done < transfer.total) {
    if (transfer.state != 0) {
      const auto number = static_cast<std::uint32_t>(transfer.state);
      if (!has_read(stream, transfer.peer, number)) return Status::pending;
      transfer.done += cell(rank_, transfer.peer, number - 1).loan.bytes;
      transfer.state = 0;
      continue;
    }
    if (!has_read(stream, transfer.peer, stream.sent + 1 - cells_per_pair)) return Status::pending;
    const Piece run = loan_wanted(transfer);
    if (run.bytes != 0 && may_lend(stream, transfer.peer))
      lend(transfer, run);
    else
      copy_in(transfer);
  }
  return Status::ok;
}

/// What is to be lent next, if the peer can read it. Empty: nothing, it is to be copied.
Piece Cells::loan_wanted(const Transfer& transfer) const noexcept {
  if (transfer.total < least_loan_) return {};
  const Piece run = next_run(transfer);
  return run.bytes >= least_loan_ ? run : Piece{};
}

/// To be copied, since they come before a piece that is lent, or the message ends.
std::size_t Cells::bytes_before_loan(const Transfer& transfer, const Stream& stream) const noexcept {
  const std::size_t left = transfer.total - transfer.done;
  if (stream.loans != Loans::accepted || transfer.total < least_loan_) return left;
  std::size_t before = 0;
  walk(transfer, left, [&](Piece run) {
    if (run.bytes >= least_loan_) return false;
    before += run.bytes;
    return before < payload_;
  });
  return before;
}

bool Cells::may_lend(Stream& stream, Rank peer) const noexcept {
  if (stream.loans == Loans::asked) {
    const Loans answer = pair(rank_, peer).answer.load(std::memory_order_acquire);
    if (answer != Loans::unknown) stream.loans = answer;
  }
  return stream.loans == Loans::accepted;
}

void Cells::lend(Transfer& transfer, Piece run) noexcept {
  Stream& stream = streams_[static_cast<std::size_t>(transfer.peer)];
  Cell& to = cell(rank_, transfer.peer, stream.sent);
  to.content = Content::loan;
  to.loan = {reinterpret_cast<std::uintptr_t>(run.data), run.bytes};
  publish(transfer, to);
  transfer.state = lent | stream.sent;
}

void Cells::copy_in(Transfer& transfer) noexcept {
  Stream& stream = streams_[static_cast<std::size_t>(transfer.peer)];
  Cell& to = cell(rank_, transfer.peer, stream.sent);
  to.content = Content::data;
  if (stream.loans == Loans::unknown && loan_wanted(transfer).bytes != 0) {
    peers_->admit();
    to.content = Content::data_and_question;
    stream.loans = Loans::asked;
  }
  to.bytes = static_cast<std::uint16_t>(std::min(payload_, bytes_before_loan(transfer, stream)));
  std::byte* data = to.data();
  walk(transfer, to.bytes, [&](Piece from) {
    copy_bytes(data, from.data, from.bytes);
    data += from.bytes;
    return true;
  });
  publish(transfer, to);
  transfer.done += to.bytes;
}

void Cells::publish(Transfer& transfer, Cell& cell) noexcept {
  transfer.started = true;
  cell.stamp = stamp_ ^ transfer.total;
  cell.number.store(++streams_[static_cast<std::size_t>(transfer.peer)].sent, std::memory_order_release);
  wake_sleepers(waiting_, &cell.number);
}

Status Cells::advance_recv(Transfer& transfer) noexcept {
  Stream& stream = streams_[static_cast<std::size_t>(transfer.peer)];
  while (!transfer.started || transfer.done < transfer.total) {
    Cell& from = cell(transfer.peer, rank_, stream.received);
    if (from.number.load(std::memory_order_acquire) != stream.received + 1) return Status::pending;
    if (from.stamp != (stamp_ ^ transfer.total)) return Status::mismatch;
    if (from.content == Content::loan) {
      if (const Status s = read_loan(from, transfer); s != Status::ok) return s;
    } else {
      if (from.content == Content::data_and_question) answer(transfer.peer);
      copy_out(from, transfer);
    }
    transfer.started = true;
    auto& read = pair(transfer.peer, rank_).read;
    read.store(++stream.received, std::memory_order_release);
    wake_sleepers(waiting_, &read);
  }
  return Status::ok;
}

void Cells::answer(Rank sender) noexcept {
  const bool accepts = peers_ && peers_->is_readable(sender);
  pair(sender, rank_).answer.store(accepts ? Loans::accepted : Loans::refused, std::memory_order_release);
}

void Cells::copy_out(Cell& cell, Transfer& transfer) noexcept {
  const std::byte* data = cell.data();
  walk(transfer, cell.bytes, [&](Piece to) {
    copy_bytes(to.data, data, to.bytes);
    data += to.bytes;
    return true;
  });
  transfer.done += cell.bytes;
}

Status Cells::read_loan(const Cell& cell, Transfer& transfer) noexcept {
  std::uint64_t address = cell.loan.address;
  const bool all = walk(transfer, cell.loan.bytes, [&](Piece to) {
    if (peers_->read(transfer.peer, address, to) != Status::ok) return false;
    address += to.bytes;
    return true;
  });
  if (!all) return Status::failed;
  transfer.done += cell.loan.bytes;
  return Status::ok;
}

Blocker Cells::send_blocker(const Transfer& transfer) const noexcept {
  const Rank peer = transfer.peer;
  const auto& read = pair(rank_, peer).read;
  return {&read, read.load(std::memory_order_relaxed), peer};
}

Blocker Cells::recv_blocker(const Transfer& transfer) const noexcept {
  const Rank peer = transfer.peer;
  const auto& number = cell(peer, rank_, streams_[static_cast<std::size_t>(peer)].received).number;
  return {&number, number.load(std::memory_order_relaxed), peer};
}

}  // namespace hocket::transports::shm
