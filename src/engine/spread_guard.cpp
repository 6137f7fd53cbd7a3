#include "engine/spread_guard.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "engine/host_names.hpp"
#include "engine/silent_connections.hpp"

namespace hocket::engine {

namespace {
constexpr std::uint64_t ask_for_life_after_ns = 20'000'000;
}  // namespace

Status SpreadGuard::look(const Turn& turn, Wait& wait, transports::mpi::Messages& messages, Rank peer,
                         std::uint64_t waited_ns) noexcept {
  if (failed()) return Status::failed;
  if (waited_ns < ask_for_life_after_ns) return Status::ok;
  if (messages.finds_other_call()) return Status::mismatch;
  if (failed()) return Status::failed;
  if (peer == transports::nobody) return Status::ok;
  if (peer != wait.now.peer()) wait.has_gone = false;
  wait.now.go_on(peer, waited_ns);
  // What it sent last may have come since the caller looked: once more then.
  if (has_ended(peer) && std::exchange(wait.has_gone, true)) {
    dead_ = peer;
    return Status::peer_dead;
  }
  wait.now.ask_if_late(messages);
  const double stall = engine_.options().stall_seconds;
  if (stall <= 0 || static_cast<double>(waited_ns) * 1e-9 <= stall) return Status::ok;
  if (is_unreachable(wait.now, messages)) {
    dead_ = peer;
    return Status::peer_dead;
  }
  if (!std::exchange(wait.is_reported, true)) report_stall(turn, peer, waited_ns);
  return Status::ok;
}

/// A rank that does not answer may be busy; a machine that acknowledges nothing is not. One alone is not
/// enough: a rank that answers is not the one that has gone, and who waits for that one will say so.
bool SpreadGuard::is_unreachable(LongWait& wait, transports::mpi::Messages& messages) noexcept {
  if (!wait.is_unanswered(messages)) return false;
  try {
    const Rank world = members_[static_cast<std::size_t>(wait.peer())];
    const auto addresses = silent_addresses(LongWait::proof_seconds(engine_.options().stall_seconds));
    const auto its_own = std::ranges::find_if(addresses, [&](const std::string& address) {
      return engine_.places() && engine_.places()->has_internet(world, address);
    });
    if (its_own == addresses.end()) return false;
    silence_ = " does not answer any more, nor does " + *its_own + " acknowledge data; waited " +
               std::to_string(wait.waited_ns() / 1'000'000'000U) + " s";
    return true;
  } catch (...) {
    return false;
  }
}

/// Known only of processes on the same machine.
bool SpreadGuard::has_ended(Rank peer) const {
  Arena* arena = engine_.arena();
  const Rank world = members_[static_cast<std::size_t>(peer)];
  return arena && arena->has(world) && !arena->alive(world);
}

std::string SpreadGuard::name_of(Rank rank) const {
  return name_of_member(engine_, members_, rank);
}

std::string SpreadGuard::here(const Turn& turn) const {
  return "rank " + std::to_string(rank_) + ": " + turn.mark.text();
}

void SpreadGuard::report_stall(const Turn& turn, Rank peer, std::uint64_t waited_ns) noexcept {
  try {
    engine_.say("call " + std::to_string(turn.counted()) + " of a communicator of " +
                std::to_string(members_.size()) + " ranks on several nodes has been waiting for " +
                name_of(peer) + " for " + std::to_string(waited_ns / 1'000'000'000U) + " s: " + here(turn));
  } catch (...) {
    return;  // no memory for the message: the wait matters more
  }
}

std::string SpreadGuard::explain(const Turn& turn, Status status, const Disagreement& found) const {
  if (status == Status::mismatch && found) return explain_mismatch(turn, *found);
  switch (status) {
    case Status::peer_dead:
      return name_of(dead_) + (silence_.empty() ? " has ended during a collective" : silence_) + ": " +
             here(turn);
    case Status::no_memory:
      return "no memory for a collective on one of the ranks: " + here(turn);
    default:
      return network_.failure(id_) + lost() + ": " + here(turn);
  }
}

/// Whom the MPI's error was about, if it was about one rank.
std::string SpreadGuard::lost() const {
  const Rank world = network_.lost();
  if (world < 0) return {};
  const std::string host = host_name_of(engine_, world);
  return " (to or from rank " + std::to_string(world) + " of the job" + (host.empty() ? "" : " on " + host) +
         ")";
}

std::string SpreadGuard::explain_mismatch(const Turn& turn,
                                          const transports::mpi::Messages::Disagreement& found) const {
  const CallMark theirs = mark_in(found.call);
  const std::string call = "call " + std::to_string(turn.counted());
  const std::string both = ": " + here(turn) + "; rank " + std::to_string(found.peer) + ": " + theirs.text();
  const Rank receiver = found.receiver < 0 ? rank_ : found.receiver;
  if (found.same_call)
    return "the ranks of a communicator disagree about the data of " + call + ": rank " +
           std::to_string(found.peer) + " sends " + std::to_string(found.sent) + " bytes to rank " +
           std::to_string(receiver) + ", which expects " + std::to_string(found.expected) + both;
  return "the ranks of a communicator call different collectives (" +
         (theirs == turn.mark ? "before " + call : call) + ")" + both;
}

void SpreadGuard::fail(const Turn& turn, Status status, const Disagreement& found) noexcept {
  if (failed()) return until_all_have_heard();
  try {
    fail(explain(turn, status, found));
  } catch (...) {
    fail(std::string());  // no memory for the explanation
  }
  until_all_have_heard();
}

/// The error may end this process at once, and with it the job, before the others know what has gone. One
/// that cannot be reached never hears.
void SpreadGuard::until_all_have_heard() noexcept {
  if (std::exchange(all_have_heard_, true)) return;
  for (int i = 0; i < 300; ++i) {
    sleep_ns(1'000'000);
    network_.progress();
  }
}

void SpreadGuard::fail(const std::string& text) noexcept {
  if (!failed()) network_.fail(id_, members_, text);
}

}  // namespace hocket::engine
