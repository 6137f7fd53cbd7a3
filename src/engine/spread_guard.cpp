#include "engine/spread_guard.hpp"

#include <utility>

namespace hocket::engine {

namespace {
constexpr std::uint64_t ask_for_life_after_ns = 20'000'000;
}  // namespace

transports::mpi::CallWords words_of(const CallMark& mark) noexcept {
  return {mark.packed(0), mark.bytes, mark.root};
}

namespace {

/// Blocking calls have the lower half of the numbers, and each half counts from 1.
std::string number_in(const SpreadGuard::Turn& turn) {
  return std::to_string(turn.number & 0x7fffffffU);
}

}  // namespace

CallMark mark_in(const transports::mpi::CallWords& words) noexcept {
  return CallMark::unpacked(words.call, words.root, words.bytes);
}

Status SpreadGuard::look(const Turn& turn, LongWait& wait, transports::mpi::Messages& messages, Rank peer,
                         std::uint64_t waited_ns) noexcept {
  if (failed()) return Status::failed;
  if (waited_ns < ask_for_life_after_ns) return Status::ok;
  if (messages.finds_other_call()) return Status::mismatch;
  if (failed()) return Status::failed;
  if (has_ended(peer)) {
    dead_ = peer;
    return Status::peer_dead;
  }
  if (waited_ns > wait.asks_after_ns) {
    wait.asks_after_ns = 2 * waited_ns;
    messages.ask(peer);
  }
  const double stall = engine_.options().stall_seconds;
  const bool is_stalled = stall > 0 && static_cast<double>(waited_ns) * 1e-9 > stall;
  if (is_stalled && !std::exchange(wait.is_reported, true)) report_stall(turn, peer, waited_ns);
  return Status::ok;
}

/// Known only of processes on the same machine.
bool SpreadGuard::has_ended(Rank peer) const {
  Arena* arena = engine_.arena();
  const Rank world = members_[static_cast<std::size_t>(peer)];
  return arena && arena->has(world) && !arena->alive(world);
}

std::string SpreadGuard::name_of(Rank rank) const {
  return "rank " + std::to_string(rank) + " (rank " +
         std::to_string(members_[static_cast<std::size_t>(rank)]) + " of the job)";
}

std::string SpreadGuard::here(const Turn& turn) const {
  return "rank " + std::to_string(rank_) + ": " + turn.mark.text();
}

void SpreadGuard::report_stall(const Turn& turn, Rank peer, std::uint64_t waited_ns) noexcept {
  try {
    engine_.say("call " + number_in(turn) + " of a communicator of " + std::to_string(members_.size()) +
                " ranks on several nodes has been waiting for " + name_of(peer) + " for " +
                std::to_string(waited_ns / 1'000'000'000U) + " s: " + here(turn));
  } catch (...) {
    return;  // no memory for the message: the wait matters more
  }
}

std::string SpreadGuard::explain(const Turn& turn, Status status, const Disagreement& found) const {
  if (status == Status::mismatch && found) return explain_mismatch(turn, *found);
  switch (status) {
    case Status::peer_dead:
      return name_of(dead_) + " has ended during a collective: " + here(turn);
    case Status::no_memory:
      return "no memory for a collective on one of the ranks: " + here(turn);
    default:
      return network_.failure(id_) + ": " + here(turn);
  }
}

std::string SpreadGuard::explain_mismatch(const Turn& turn,
                                          const transports::mpi::Messages::Disagreement& found) const {
  const CallMark theirs = mark_in(found.call);
  const std::string call = "call " + number_in(turn);
  const std::string both = ": " + here(turn) + "; rank " + std::to_string(found.peer) + ": " + theirs.text();
  if (found.same_call)
    return "the ranks of a communicator disagree about the data of " + call + ": rank " +
           std::to_string(found.peer) + " sends " + std::to_string(found.sent) + " bytes to rank " +
           std::to_string(rank_) + ", which expects " + std::to_string(found.expected) + both;
  return "the ranks of a communicator call different collectives (" +
         (theirs == turn.mark ? "before " + call : call) + ")" + both;
}

void SpreadGuard::fail(const Turn& turn, Status status, const Disagreement& found) noexcept {
  if (failed()) return;
  try {
    fail(explain(turn, status, found));
  } catch (...) {
    fail(std::string());  // no memory for the explanation
  }
}

void SpreadGuard::fail(const std::string& text) noexcept {
  if (!failed()) network_.fail(id_, members_, text);
}

}  // namespace hocket::engine
