// Memory through which long messages go from rank to rank of a node in parts: their sender copies in, their
// receiver copies out. Each rank has some stages of its own. A message has one of them to itself, and takes
// its areas in turn: nobody ever waits for the reader of another message.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transports/shm/lines.hpp"
#include "transports/shm/node_ranks.hpp"

namespace hocket::transports::shm {

class NodeStages {
 public:
  static constexpr std::uint32_t stages = 4;  ///< of each rank
  static constexpr std::uint32_t depth = 8;   ///< areas of a stage
  static constexpr std::size_t area_bytes = std::size_t{64} * 1024;
  static constexpr std::size_t stage_bytes = depth * area_bytes;

  struct alignas(line_bytes) Word {
    std::atomic<std::uint32_t> is_full;
  };
  /// In memory that all of them map, zero at first.
  struct Memory {
    Word words[stages][depth];
    std::byte areas[stages][depth][area_bytes];
  };
  static_assert(sizeof(Memory::words) >= staging_shift);
  static constexpr std::size_t bytes(std::size_t ranks) { return ranks * sizeof(Memory); }

  /// `memory`: of so many bytes. `self` is one of the ranks.
  NodeStages(std::byte* memory, NodeRanks ranks, Rank self);

  bool has(Rank rank) const noexcept { return ranks_.place_of(rank) >= 0; }

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
  bool is_empty(Area area) const noexcept { return word(own_, area).load(std::memory_order_acquire) == 0; }
  std::byte* data(Area area) noexcept { return memory_[own_].areas[area.stage][area.number]; }
  /// Before anybody is told of it.
  void fill(Area area) noexcept { word(own_, area).store(1, std::memory_order_relaxed); }
  /// Nobody was told.
  void take_back(Area area) noexcept { word(own_, area).store(0, std::memory_order_relaxed); }

  // of others', who have told of it

  const std::byte* data_of(Rank owner, Area area) const noexcept {
    return memory_[place(owner)].areas[area.stage][area.number];
  }
  void empty(Rank owner, Area area) noexcept { word(place(owner), area).store(0, std::memory_order_release); }

 private:
  std::size_t place(Rank rank) const noexcept { return static_cast<std::size_t>(ranks_.place_of(rank)); }
  std::atomic<std::uint32_t>& word(std::size_t rank, Area area) const noexcept {
    return memory_[rank].words[area.stage][area.number].is_full;
  }
  bool is_all_empty(std::uint32_t stage) const noexcept;

  const NodeRanks ranks_;
  Memory* const memory_;
  const std::size_t own_;
  std::array<const void*, stages> owners_{};  ///< of the messages that have them
};

}  // namespace hocket::transports::shm
