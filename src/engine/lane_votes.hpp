// Whether the ranks of a lane read each other's memory: agreed on operation by operation, without a meeting
// and without an order in which ranks go on with their operations.
//
// Each rank votes once, and says from which instance on its vote holds: one that it has not arrived in
// before, nor in any later one, since operations are not arrived in by number. So who has seen all ranks
// arrive in an operation has seen every vote that holds for it: all come to the same answer for that
// operation, each at its own time. Nobody can know it when the operation starts: until the votes are there,
// an operation prepares both ways and chooses when everybody has arrived. Once all votes are known, nobody is
// waited for any more.
#pragma once

#include <optional>
#include <vector>

#include "engine/single_copy.hpp"
#include "transports/shm/instance.hpp"

namespace hocket::engine {

class LaneVotes {
 public:
  /// Both outlive it.
  LaneVotes(const SingleCopy& single_copy, transports::shm::Channel& lane)
      : single_copy_(single_copy), lane_(lane) {}

  /// Before this rank arrives in the instance: votes, if it can and has not. The first time it may measure,
  /// for milliseconds.
  void give_before(std::uint32_t number) noexcept;

  /// What single copy gains in this instance: nothing, where a vote is missing. Null: somebody has not
  /// arrived whose vote may be new.
  std::optional<transports::cma::Gain> gain_in(const transports::shm::Instance& instance) noexcept;

 private:
  using Gain = transports::cma::Gain;

  Gain count(std::uint32_t number) noexcept;

  const SingleCopy& single_copy_;
  transports::shm::Channel& lane_;
  bool given_ = false;
  std::optional<std::uint32_t> unvoted_;  ///< the last instance that this rank arrived in without a vote
  std::optional<Gain> counted_;           ///< all votes are there
  std::uint32_t since_ = 0;               ///< the first instance that all of them hold for
};

}  // namespace hocket::engine
