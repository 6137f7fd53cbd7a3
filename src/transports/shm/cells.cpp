#include "transports/shm/cells.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace hocket::transports::shm {

namespace {
constexpr std::size_t per_rank_bytes = 1024 * 1024;
constexpr std::size_t header_bytes = 64;
constexpr std::size_t control_bytes = 128;
}  // namespace

struct Cells::Pair {
  alignas(64) std::atomic<std::uint32_t> tail;  ///< cells written
  alignas(64) std::atomic<std::uint32_t> head;  ///< cells read
};

struct alignas(header_bytes) Cells::Cell {
  std::uint64_t message_bytes;
  std::uint64_t bytes;  ///< in this cell
  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this) + header_bytes; }
};

std::size_t cell_bytes(Rank ranks) {
  const std::size_t share = per_rank_bytes / (static_cast<std::size_t>(ranks) * cells_per_pair);
  return std::clamp<std::size_t>(share / 64 * 64, 1024, 32 * 1024);
}

std::size_t cells_bytes(Rank ranks) {
  const auto pairs = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
  return pairs * (control_bytes + cells_per_pair * (header_bytes + cell_bytes(ranks)));
}

Cells::Cells(std::byte* memory, Rank ranks, Rank rank, const Waiting& waiting) noexcept
    : memory_(memory), payload_(cell_bytes(ranks)), ranks_(ranks), rank_(rank), waiting_(waiting) {
  static_assert(sizeof(Pair) == control_bytes && sizeof(Cell) == header_bytes);
}

Cells::Pair& Cells::pair(Rank sender, Rank receiver) const noexcept {
  const std::size_t index = static_cast<std::size_t>(sender) * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(receiver);
  return *reinterpret_cast<Pair*>(memory_ + index * (control_bytes + cells_per_pair * (header_bytes + payload_)));
}

Cells::Cell& Cells::cell(Rank sender, Rank receiver, std::uint32_t index) const noexcept {
  std::byte* ring = reinterpret_cast<std::byte*>(&pair(sender, receiver)) + control_bytes;
  return *reinterpret_cast<Cell*>(ring + (index % cells_per_pair) * (header_bytes + payload_));
}

namespace {

/// Calls use(piece pointer, bytes) for the transfer's bytes [done, done + bytes).
template <class Use>
void walk(const Transfer& transfer, std::size_t bytes, Use use) noexcept {
  std::size_t skip = transfer.done;
  for (const Piece& piece : transfer.pieces) {
    if (skip >= piece.bytes) {
      skip -= piece.bytes;
      continue;
    }
    const std::size_t here = std::min(piece.bytes - skip, bytes);
    use(piece.data + skip, here);
    bytes -= here;
    skip = 0;
    if (bytes == 0) return;
  }
}

}  // namespace

Status Cells::advance_send(Transfer& transfer) noexcept {
  Pair& control = pair(rank_, transfer.peer);
  while (!transfer.started || transfer.done < transfer.total) {
    const std::uint32_t tail = control.tail.load(std::memory_order_relaxed);
    if (tail - control.head.load(std::memory_order_acquire) == cells_per_pair) return Status::pending;
    Cell& to = cell(rank_, transfer.peer, tail);
    to.message_bytes = transfer.total;
    to.bytes = std::min(payload_, transfer.total - transfer.done);
    std::byte* data = to.data();
    walk(transfer, to.bytes, [&](const std::byte* from, std::size_t bytes) {
      std::memcpy(data, from, bytes);
      data += bytes;
    });
    transfer.done += to.bytes;
    transfer.started = true;
    control.tail.store(tail + 1, std::memory_order_release);
    wake_sleepers(waiting_, &control.tail);
  }
  return Status::ok;
}

Status Cells::advance_recv(Transfer& transfer) noexcept {
  Pair& control = pair(transfer.peer, rank_);
  while (!transfer.started || transfer.done < transfer.total) {
    const std::uint32_t head = control.head.load(std::memory_order_relaxed);
    if (control.tail.load(std::memory_order_acquire) == head) return Status::pending;
    Cell& from = cell(transfer.peer, rank_, head);
    if (from.message_bytes != transfer.total) return Status::mismatch;
    const std::byte* data = from.data();
    const std::size_t arrived = from.bytes;
    walk(transfer, arrived, [&](std::byte* to, std::size_t bytes) {
      std::memcpy(to, data, bytes);
      data += bytes;
    });
    transfer.done += arrived;
    transfer.started = true;
    control.head.store(head + 1, std::memory_order_release);
    wake_sleepers(waiting_, &control.head);
  }
  return Status::ok;
}

Blocker Cells::send_blocker(Rank peer) const noexcept {
  const auto& head = pair(rank_, peer).head;
  return {&head, head.load(std::memory_order_relaxed), peer};
}

Blocker Cells::recv_blocker(Rank peer) const noexcept {
  const auto& tail = pair(peer, rank_).tail;
  return {&tail, tail.load(std::memory_order_relaxed), peer};
}

}  // namespace hocket::transports::shm
