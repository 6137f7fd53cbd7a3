#include "worker/remote/memory_server.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include "base/error.hpp"

namespace hocket::worker::remote {

namespace {

/// Pieces that have come there are under way here until their receiver has said so.
constexpr std::size_t most_under_way = 4 * most_pieces;

void check(const Frame& frame) {
  if (frame.head.length > piece_bytes) throw Error("a remote worker that asks for what none asks for");
}

bool is_short(const FrameHead& head) {
  return head.length <= Frame::longest;
}

}  // namespace

void MemoryServer::read(const Frame& frame, const std::shared_ptr<RankProcess>& process) {
  check(frame);
  const FrameHead head = frame.head;
  if (!process) return answer(head, ESRCH);
  if (is_short(head)) {
    std::array<std::byte, Frame::longest> data;
    const int error = process->read(head.address, {data.data(), head.length});
    return answer(head, error, std::span(data).first(error == 0 ? head.length : 0));
  }
  wait_for_room();
  Transfer transfer = prepared(head, process);
  const int error =
      transfer.range ? 0 : process->read(head.address, {transfer.data.data(), transfer.data.size()});
  if (error == 0 && link_.send_data(transfer.data, head.number, transfer.ticket))
    return transfers_.push_back(std::move(transfer));
  if (transfer.copy) rooms_.push_back(std::move(transfer.copy));
  answer(head, error);
}

/// Data that nobody can take any more are taken all the same: their sender waits.
void MemoryServer::write(const Frame& frame, const std::shared_ptr<RankProcess>& process) {
  check(frame);
  const FrameHead head = frame.head;
  if (is_short(head)) {
    if (head.bytes != head.length) throw Error("a remote worker that writes other than it says");
    auto* const data = const_cast<std::byte*>(frame.payload.data());  // is only read
    return answer(head, process ? process->write(head.address, {data, head.length}) : ESRCH);
  }
  wait_for_room();
  Transfer transfer = prepared(head, process);
  if (link_.receive_data(transfer.data, head.number, transfer.ticket))
    transfers_.push_back(std::move(transfer));
}

/// The worker looks at the link as long as it waits for anything.
void MemoryServer::wait_for_room() {
  while (transfers_.size() >= most_under_way && !link_.is_broken()) {
    link_.progress();
    turn();
  }
}

MemoryServer::Transfer MemoryServer::prepared(const FrameHead& head,
                                              const std::shared_ptr<RankProcess>& process) {
  Transfer transfer;
  transfer.head = head;
  transfer.process = process;
  if (process) transfer.range = process->range_of(head.address, head.length);
  if (!transfer.range) transfer.copy = take_room();
  std::byte* const begin = transfer.range ? transfer.range->here(head.address) : transfer.copy.get();
  transfer.data = {begin, head.length};
  return transfer;
}

std::unique_ptr<std::byte[]> MemoryServer::take_room() {
  if (rooms_.empty()) return std::make_unique_for_overwrite<std::byte[]>(piece_bytes);
  auto room = std::move(rooms_.back());
  rooms_.pop_back();
  return room;
}

bool MemoryServer::has_ended(Transfer& transfer) {
  const Status status = link_.test(transfer.ticket);
  if (status == Status::pending) return false;
  if (status != Status::ok) link_.give_up();
  if (transfer.head.kind == FrameKind::write && status == Status::ok) {
    const transports::Piece piece{transfer.data.data(), transfer.data.size()};
    const int error = transfer.range     ? 0
                      : transfer.process ? transfer.process->write(transfer.head.address, piece)
                                         : ESRCH;
    answer(transfer.head, error);
  }
  if (transfer.copy) rooms_.push_back(std::move(transfer.copy));
  return true;
}

bool MemoryServer::turn() {
  return std::erase_if(transfers_, [this](Transfer& transfer) { return has_ended(transfer); }) != 0;
}

void MemoryServer::answer(const FrameHead& head, int error, std::span<const std::byte> data) noexcept {
  FrameHead done{FrameKind::done, head.desk, head.number, 0, static_cast<std::uint64_t>(error), head.length};
  link_.send(done, data);
}

}  // namespace hocket::worker::remote
