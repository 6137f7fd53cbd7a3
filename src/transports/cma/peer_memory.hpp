// The memory of a communicator's ranks, read by the kernel.
#pragma once

#include <utility>
#include <vector>

#include "transports/cma/card.hpp"
#include "transports/cma/process_memory.hpp"
#include "transports/transport.hpp"

namespace hocket::transports::cma {

/// Why a read did not work; error 0: none failed.
struct ReadFailure {
  Rank peer = 0;
  int error = 0;
};

class PeerMemory final : public transports::PeerMemory {
 public:
  /// `cards`: by rank.
  PeerMemory(std::vector<CardMemory> cards, Rank rank) noexcept : cards_(std::move(cards)), rank_(rank) {}

  void admit() noexcept override { publish_card(card_of(rank_)); }
  bool is_readable(Rank peer) noexcept override { return test_card(card_of(peer)) == 0; }
  Status read(Rank peer, std::uint64_t address, Piece target) noexcept override {
    const int error = read_process_memory(pid_of(card_of(peer)), address, target);
    if (error == 0) return Status::ok;
    failure_ = {peer, error};
    return Status::failed;
  }

  /// The last one.
  const ReadFailure& failure() const noexcept { return failure_; }

 private:
  CardMemory card_of(Rank rank) const noexcept { return cards_[static_cast<std::size_t>(rank)]; }

  std::vector<CardMemory> cards_;
  Rank rank_;
  ReadFailure failure_;
};

}  // namespace hocket::transports::cma
