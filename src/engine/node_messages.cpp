#include "engine/node_messages.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "engine/single_copy.hpp"
#include "transports/cma/card.hpp"
#include "transports/cma/peer_memory.hpp"

namespace hocket::engine {

namespace cma = transports::cma;
using transports::mpi::Loans;
using transports::mpi::Network;
using transports::shm::NodeMail;
using transports::shm::NodeRanks;
using transports::shm::NodeStages;

namespace {

constexpr std::uint64_t mail_origin = 0x6d61696c;
constexpr std::uint64_t stages_origin = 0x737461676573;

SlotKey key(std::uint64_t origin, Rank node) {
  return {origin, static_cast<std::uint64_t>(node), 0};
}

/// Measured when it is asked for first, unless a rank of the node has done it before. Where there is no
/// memory to measure, two copies are the safe guess: all ranks can make them.
bool reads_pay(std::span<const cma::CardMemory> cards, cma::CardMemory own) noexcept {
  try {
    return cma::node_gain(cards, own) >= cma::Gain::over_two_copies;
  } catch (...) {
    return false;
  }
}

}  // namespace

NodeMessages::NodeMessages(Arena& arena, Rank node, std::vector<Rank> mates, Rank self)
    : arena_(arena),
      mates_(std::move(mates)),
      self_(self),
      mail_(arena, key(mail_origin, node)),
      stages_(arena, key(stages_origin, node)) {}

void NodeMessages::open(Network& network, const std::string& cma) {
  const auto users = static_cast<int>(mates_.size());
  std::byte* const mail = mail_.carve(NodeMail::bytes(mates_.size()), users, Content::spare);
  if (!mail) return;
  network.open_mail(NodeMail(mail, NodeRanks(mates_), self_));
  if (const std::optional<std::size_t> least = least_loan(cma)) network.open_loans(loans(cma, *least));
  if (std::byte* const stages = stages_.carve(NodeStages::bytes(mates_.size()), users, Content::spare))
    network.open_stages(std::make_unique<NodeStages>(stages, NodeRanks(mates_), self_),
                        least_single_copy_bytes);
}

std::unique_ptr<Loans> NodeMessages::loans(const std::string& cma, std::size_t least_bytes) const {
  std::vector<cma::CardMemory> cards;
  for (const Rank mate : mates_) cards.push_back(arena_.card_of(mate));
  const Rank place = NodeRanks(mates_).place_of(self_);
  const cma::CardMemory own = cards[static_cast<std::size_t>(place)];
  auto memory = std::make_unique<cma::PeerMemory>(cards, place);
  auto pay = [always = cma == "on", cards = std::move(cards), own] {
    return always || reads_pay(cards, own);
  };
  return std::make_unique<Loans>(NodeRanks(mates_), std::move(memory), least_bytes, std::move(pay));
}

void note_node_messages(const Network::FromMates& counts, Report& report) noexcept {
  if (counts.read + counts.unreadable + counts.staged == 0) return;
  try {
    report.note("of long messages that ranks of its node had for this rank, " + std::to_string(counts.read) +
                " were read where they lay, " + std::to_string(counts.staged) +
                " came through shared memory, and " + std::to_string(counts.unreadable) +
                " could not be read where they lay");
  } catch (...) {
    return;  // the report lacks a line
  }
}

}  // namespace hocket::engine
