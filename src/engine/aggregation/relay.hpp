// How a small result reaches a member that the network has not brought it to, though the others wait for
// nobody: each sends it on to the next one in the group, and goes.
//
// A member that lacks it waits for the one before it, and hands on what it hears: the result, or that all
// since member 0 lack it, which says at once that it does. If that comes around, nobody has it, and member 0
// tells all. So who waits waits only for members that lack it too, and are there. What a member that has it
// was sent is taken in some operations later, of several at a time: until then the MPI is not asked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transports/mpi/messages.hpp"

namespace hocket::engine::aggregation {

using ir::Rank;

class Relay {
 public:
  /// A result that one message carries, and nobody has to see off.
  static constexpr std::size_t most_bytes = 2048;

  /// `members`: their ranks in the world, in the group's order, which outlive it; `rank` is one among them.
  Relay(transports::mpi::Network& network, const transports::mpi::CommunicatorId& id,
        std::span<const Rank> members, Rank rank);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  enum class Outcome : std::uint8_t { result, nobody_has_it };

  /// Of the members' operation of this number. `result` is here (`has`), or will be.
  void begin(std::uint32_t number, std::span<std::byte> result, bool has) noexcept;
  /// Pending; ok: outcome() says what came of it; or an error of messages.
  Status advance() noexcept;
  Outcome outcome() const noexcept { return outcome_; }
  void abandon() noexcept;

  /// What a pending one waits for, among the members.
  transports::Blocker blocker() const noexcept { return {nullptr, 0, (rank_ + ranks_ - 1) % ranks_}; }

 private:
  enum class Word : std::uint32_t { result, lacking, nobody };
  enum class Step : std::uint8_t { make_room, hear, say, hear_verdict, say_verdict, is_over };

  Rank before() const noexcept { return blocker().peer; }
  Rank after() const noexcept { return (rank_ + 1) % ranks_; }
  Status make_room() noexcept;
  void expect_late(std::uint32_t number) noexcept;
  void begin_late() noexcept;
  void begin_words() noexcept;
  void say(Word word) noexcept;
  void hear() noexcept;
  void heard() noexcept;
  void heard_verdict() noexcept;
  void next_step() noexcept;

  const Rank rank_, ranks_;
  transports::mpi::Messages messages_, late_messages_;
  std::uint32_t number_ = 0;
  std::span<std::byte> result_;
  bool has_result_ = false;
  bool asks_ = false;  ///< the MPI: something was pending
  Step step_ = Step::is_over;
  bool awaits_verdict_ = false;
  Outcome outcome_ = Outcome::result;

  /// A word, and the result behind it.
  struct Message {
    Word word = Word::result;
    std::array<transports::Piece, 2> pieces{};
    transports::Transfer transfer;
    void lay(Rank peer, std::span<std::byte> data) noexcept;
  };
  Message said_, heard_;

  /// Of operations whose result this member had: what comes of them is not needed.
  static constexpr std::uint32_t most_late = 16;
  struct Late {
    std::uint32_t number = 0;
    std::size_t bytes = 0;
  };
  Late& late(std::uint32_t place) noexcept { return late_[(first_late_ + place) % most_late]; }
  std::array<Late, most_late> late_{};
  std::uint32_t first_late_ = 0, lates_ = 0;
  Message late_heard_;
  std::vector<std::byte> late_data_;
};

}  // namespace hocket::engine::aggregation
