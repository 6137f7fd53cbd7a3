// One rank that a worker serves: what it has told at its desk, and what is under way for it.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/handover/commands.hpp"
#include "engine/handover/desks.hpp"
#include "transports/mpi/network.hpp"
#include "worker/carried.hpp"
#include "worker/idle_operations.hpp"
#include "worker/rank_process.hpp"

namespace hocket::worker {

class Served {
 public:
  /// What a rank asks of its worker beyond its own operations.
  class Office {
   public:
    /// Throws Error.
    virtual void connect(const engine::handover::Connect& command, ir::Rank from) = 0;
    /// Null until the workers of all nodes know each other.
    virtual std::unique_ptr<transports::mpi::Port> port_of(ir::Rank rank) = 0;
    /// Something that was given up is still being sent: its memory stays.
    virtual bool still_reads() noexcept = 0;
    /// The worker of that rank has ended.
    virtual bool has_lost(ir::Rank rank) noexcept = 0;
    /// Something that takes long goes on.
    virtual void beat() noexcept = 0;
    /// Nothing has come from there for long, nor an answer.
    virtual void suspect(ir::Rank rank) noexcept = 0;

   protected:
    ~Office() = default;
  };

  /// What it tells comes through `commands`. So many bytes of mirrors stay for calls that may come again.
  Served(Office& office, ir::Rank rank, std::unique_ptr<RankProcess> process,
         engine::handover::StreamMemory& commands, std::size_t idle_bytes);

  /// Reads commands, so many at most that others have their turn, and goes on with what is under way. True:
  /// something has moved. Throws Error where the rank says what no rank says: nothing more of it is read.
  bool turn();
  /// Now and then: suspects whom its operations have waited for so long, without an answer.
  void look_for_silence(std::uint64_t now_ns, std::uint64_t stall_ns) noexcept;
  bool is_alive() const noexcept { return process_->is_alive(); }
  bool is_idle() const noexcept { return under_way_.empty(); }
  /// Each of its turns looks at the network.
  bool listens() const noexcept { return network_ != nullptr; }
  /// Of operations that are not under way.
  std::size_t idle_bytes() const noexcept { return idle_.bytes(); }

  /// Its process has ended: all other ranks' workers are told so, unless it had left.
  void mourn() noexcept;
  /// All that it has said is on its way to others.
  bool has_left() noexcept;
  /// Memory of this rank's operations is still read by the network.
  bool still_sends() noexcept { return office_.still_reads(); }

 private:
  using Kind = engine::handover::CommandKind;

  bool read_commands();
  bool read_head();
  bool read_body();
  bool open_network();
  void tell_of_death() noexcept;
  void carry_out(std::span<const std::byte> body);
  void check_members(const engine::handover::Open& open) const;
  void leave();
  void open(const engine::handover::Open& open);
  void close(std::uint32_t communicator);
  void define(engine::handover::Define define);
  void start(const engine::handover::Start& start);
  void start_elsewhere(const engine::handover::StartElsewhere& command);
  void begin(const engine::handover::Start& start, std::uint64_t word);
  void abandon(std::uint32_t completion);
  bool go_on();
  std::unique_ptr<Carried> operation_of(std::uint32_t definition);
  void keep(std::uint32_t definition, std::unique_ptr<Carried> operation);
  void retire(std::unique_ptr<Carried> operation);
  void complete(std::uint32_t completion, std::uint64_t word, Status status) noexcept;
  Status advance(Carried& operation) noexcept;
  void say_why(const Carried& operation, Status status) noexcept;

  struct UnderWay {
    std::uint32_t definition;
    std::unique_ptr<Carried> operation;
    std::uint64_t word;  ///< where in the rank it says what has become of it; 0: at the desk
  };

  Office& office_;
  const Beat beat_;
  const ir::Rank rank_;  ///< in the world
  const std::unique_ptr<RankProcess> process_;
  engine::handover::StreamReader commands_;
  engine::handover::CommandHead head_{};
  std::size_t head_read_ = 0;
  std::vector<std::byte> body_;  ///< as much of it as has come
  std::unique_ptr<transports::mpi::Network> network_;
  bool is_broken_ = false;  ///< it has said what no rank says
  bool has_left_ = false;   ///< it has said so
  std::unordered_map<std::uint32_t, std::shared_ptr<Communicator>> communicators_;
  std::unordered_map<std::uint32_t, std::shared_ptr<const Definition>> definitions_;
  IdleOperations idle_;
  std::vector<UnderWay> under_way_;
  std::bitset<engine::handover::most_under_way> taken_;  ///< completions of those
  std::vector<std::unique_ptr<Carried>> retired_;        ///< have failed, or were given up
};

}  // namespace hocket::worker
