#include "transports/shm/cells.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace hocket::transports::shm {

namespace {

constexpr std::size_t per_rank_bytes = 1024 * 1024;
constexpr std::size_t line = 64;
constexpr std::size_t short_bytes = 48;

/// Calls use(piece pointer, bytes) for the transfer's bytes [done, done + bytes).
template <class Use>
void walk(const Transfer& transfer, std::size_t bytes, Use use) noexcept {
  std::size_t skip = transfer.done;
  for (const Piece& piece : transfer.pieces) {
    if (bytes == 0) return;
    if (skip >= piece.bytes) {
      skip -= piece.bytes;
      continue;
    }
    const std::size_t here = std::min(piece.bytes - skip, bytes);
    use(piece.data + skip, here);
    bytes -= here;
    skip = 0;
  }
}

}  // namespace

struct alignas(line) Cells::Pair {
  std::atomic<std::uint32_t> read;  ///< cells that the receiver has read
};

struct alignas(line) Cells::Cell {
  std::atomic<std::uint32_t> number;  ///< of this cell in its stream, from 1; written last
  std::uint32_t bytes;                ///< in this cell
  std::uint64_t stamp;                ///< signature of the call, mixed with the bytes of the message
  std::array<std::byte, short_bytes> short_data;

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

Cells::Cells(std::byte* memory, Rank ranks, Rank rank, const Waiting& waiting)
    : memory_(memory),
      payload_(cell_bytes(ranks)),
      ranks_(ranks),
      rank_(rank),
      waiting_(waiting),
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

bool Cells::is_full(Stream& stream, Rank peer) const noexcept {
  if (stream.sent - stream.read_by_peer < cells_per_pair) return false;
  stream.read_by_peer = pair(rank_, peer).read.load(std::memory_order_acquire);
  return stream.sent - stream.read_by_peer == cells_per_pair;
}

Status Cells::advance_send(Transfer& transfer) noexcept {
  Stream& stream = streams_[static_cast<std::size_t>(transfer.peer)];
  while (!transfer.started || transfer.done < transfer.total) {
    if (is_full(stream, transfer.peer)) return Status::pending;
    Cell& to = cell(rank_, transfer.peer, stream.sent);
    to.stamp = stamp_ ^ transfer.total;
    to.bytes = static_cast<std::uint32_t>(std::min(payload_, transfer.total - transfer.done));
    std::byte* data = to.data();
    walk(transfer, to.bytes, [&](const std::byte* from, std::size_t bytes) {
      std::memcpy(data, from, bytes);
      data += bytes;
    });
    transfer.done += to.bytes;
    transfer.started = true;
    to.number.store(++stream.sent, std::memory_order_release);
    wake_sleepers(waiting_, &to.number);
  }
  return Status::ok;
}

Status Cells::advance_recv(Transfer& transfer) noexcept {
  Stream& stream = streams_[static_cast<std::size_t>(transfer.peer)];
  while (!transfer.started || transfer.done < transfer.total) {
    Cell& from = cell(transfer.peer, rank_, stream.received);
    if (from.number.load(std::memory_order_acquire) != stream.received + 1) return Status::pending;
    if (from.stamp != (stamp_ ^ transfer.total)) return Status::mismatch;
    const std::byte* data = from.data();
    const std::size_t arrived = from.bytes;
    walk(transfer, arrived, [&](std::byte* to, std::size_t bytes) {
      std::memcpy(to, data, bytes);
      data += bytes;
    });
    transfer.done += arrived;
    transfer.started = true;
    auto& read = pair(transfer.peer, rank_).read;
    read.store(++stream.received, std::memory_order_release);
    wake_sleepers(waiting_, &read);
  }
  return Status::ok;
}

Blocker Cells::send_blocker(Rank peer) const noexcept {
  const auto& read = pair(rank_, peer).read;
  return {&read, read.load(std::memory_order_relaxed), peer};
}

Blocker Cells::recv_blocker(Rank peer) const noexcept {
  const auto& number = cell(peer, rank_, streams_[static_cast<std::size_t>(peer)].received).number;
  return {&number, number.load(std::memory_order_relaxed), peer};
}

}  // namespace hocket::transports::shm
