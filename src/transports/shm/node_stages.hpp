// Memory through which long messages go from rank to rank of a node in parts: their sender copies in, their
// receiver copies out. Each rank has some stages of its own. A message has one of them to itself, and takes
// its areas in turn: nobody ever waits for the reader of another message. A stage whose message is never
// read, since its receiver has given the operation up, is of no more use.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transports/shm/lines.hpp"
#include "transports/shm/node_ranks.hpp"

namespace hocket::transports::shm {

class NodeStages {
 public:
  static constexpr std::size_t most_stages = 4;  ///< of a rank; on large nodes there are fewer
  static constexpr std::uint32_t depth = 8;      ///< areas of a stage
  static constexpr std::size_t area_bytes = std::size_t{64} * 1024;
  static constexpr std::size_t stage_bytes = depth * area_bytes;

  enum class State : std::uint32_t {
    empty,
    full,
    awaited,  ///< full, and its owner wants to hear when it is empty
  };
  struct alignas(line_bytes) Word {
    std::atomic<State> state;
  };
  /// In memory that all of them map, zero at first.
  struct alignas(4096) Stage {
    Word words[depth];
    alignas(staging_shift) std::byte areas[depth][area_bytes];
  };
  static_assert(offsetof(Stage, areas) % 4096 == staging_shift);

  static constexpr std::size_t stages_of_each(std::size_t ranks) {
    return std::clamp<std::size_t>(most_bytes / (ranks * sizeof(Stage)), 1, most_stages);
  }
  static constexpr std::size_t bytes(std::size_t ranks) {
    return ranks * stages_of_each(ranks) * sizeof(Stage);
  }

  /// `memory`: of so many bytes, where a page begins. `self` is one of the ranks.
  NodeStages(std::byte* memory, NodeRanks ranks, Rank self);

  // of this rank's own

  /// One that no message has, and of which all has been read. False: there is none now. `owner`: not null.
  bool take(const void* owner, std::uint32_t& stage) noexcept;
  /// What lies in it may still be read.
  void release(std::uint32_t stage) noexcept { owners_[stage] = nullptr; }
  void release_all_of(const void* owner) noexcept;

  struct Area {
    std::uint32_t stage = 0;
    std::uint32_t number = 0;  ///< in its stage
  };
  bool is_empty(Area area) const noexcept {
    return word(own_, area).load(std::memory_order_acquire) == State::empty;
  }
  std::byte* data(Area area) noexcept { return stage(own_, area).areas[area.number]; }
  /// Before anybody is told of it.
  void fill(Area area) noexcept { word(own_, area).store(State::full, std::memory_order_relaxed); }
  /// Nobody was told.
  void take_back(Area area) noexcept { word(own_, area).store(State::empty, std::memory_order_relaxed); }
  /// Who reads it will say so. False: it is empty already.
  bool await(Area area) noexcept;

  // of others', who have told of it

  const std::byte* data_of(Rank owner, Area area) const noexcept {
    return stage(place(owner), area).areas[area.number];
  }
  /// Whether its owner awaits it.
  bool empty(Rank owner, Area area) noexcept {
    return word(place(owner), area).exchange(State::empty, std::memory_order_acq_rel) == State::awaited;
  }

 private:
  static constexpr std::size_t most_bytes = std::size_t{64} << 20U;

  std::size_t place(Rank rank) const noexcept { return static_cast<std::size_t>(ranks_.place_of(rank)); }
  Stage& stage(std::size_t rank, Area area) const noexcept { return memory_[rank * stages_ + area.stage]; }
  std::atomic<State>& word(std::size_t rank, Area area) const noexcept {
    return stage(rank, area).words[area.number].state;
  }
  bool is_all_empty(std::uint32_t stage) const noexcept;

  const NodeRanks ranks_;
  Stage* const memory_;
  const std::size_t stages_;
  const std::size_t own_;
  std::array<const void*, most_stages> owners_{};  ///< of the messages that have them
};

}  // namespace hocket::transports::shm
