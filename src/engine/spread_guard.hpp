// Looks after a communicator whose ranks are on several nodes: long waits, calls that differ, and the error
// that ends it, which all members are told.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "engine/call_turn.hpp"
#include "engine/engine.hpp"
#include "engine/long_wait.hpp"
#include "transports/mpi/messages.hpp"

namespace hocket::engine {

class SpreadGuard {
 public:
  using Id = transports::mpi::CommunicatorId;
  using Disagreement = std::optional<transports::mpi::Messages::Disagreement>;

  using Turn = CallTurn;

  /// Of a call, for one peer after the other.
  struct Wait {
    LongWait now;
    bool has_gone = false;  ///< the peer, when it was looked for last
    bool is_reported = false;
  };

  SpreadGuard(Engine& engine, const Id& id, std::span<const Rank> members, Rank rank)
      : engine_(engine), network_(*engine.network()), id_(id), members_(members), rank_(rank) {}

  const Id& id() const noexcept { return id_; }
  /// In a long wait for a peer's message in this call, which has `messages`.
  Status look(const Turn& turn, Wait& wait, transports::mpi::Messages& messages, Rank peer,
              std::uint64_t waited_ns) noexcept;

  /// Gives the communicator up in this call, unless another rank has done so, and composes the text.
  void fail(const Turn& turn, Status status, const Disagreement& found) noexcept;
  void fail(const std::string& text) noexcept;
  bool failed() noexcept { return network_.failed(id_); }
  std::string error() const { return network_.failure(id_); }

 private:
  std::string explain(const Turn& turn, Status status, const Disagreement& found) const;
  std::string explain_mismatch(const Turn& turn, const transports::mpi::Messages::Disagreement& found) const;
  std::string name_of(Rank rank) const;
  std::string here(const Turn& turn) const;
  std::string lost() const;
  bool has_ended(Rank peer) const;
  bool is_unreachable(LongWait& wait, transports::mpi::Messages& messages) noexcept;
  void until_all_have_heard() noexcept;
  void report_stall(const Turn& turn, Rank peer, std::uint64_t waited_ns) noexcept;

  Engine& engine_;
  transports::mpi::Network& network_;
  const Id id_;
  std::span<const Rank> members_;
  Rank rank_;
  Rank dead_ = -1;
  std::string silence_;  ///< why it must be, if it runs elsewhere
  bool all_have_heard_ = false;
};

}  // namespace hocket::engine
