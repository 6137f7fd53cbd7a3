// Tables about all ranks of a communicator, one copy of each on this node, in the arena: of 65,536 ranks they
// are megabytes, and there are as many processes on a node as it has cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "engine/arena.hpp"
#include "engine/host.hpp"
#include "engine/slot_part.hpp"
#include "passes/tables.hpp"

namespace hocket::engine {

class NodeTables final : public passes::Tables {
 public:
  /// Smaller ones are not worth a look at the arena's directory: each process has its own.
  static constexpr std::size_t least_shared_bytes = 64 << 10;

  struct Owners {
    SlotKey key;                    ///< of their communicator
    std::span<const Rank> members;  ///< in the world
    Rank self = 0;                  ///< this one of them, in the world
  };
  /// `arena`: null, or sealed, and then all of its ranks among the members ask for the same tables.
  NodeTables(Arena* arena, const Host& host, const Owners& owners,
             std::size_t least_shared = least_shared_bytes);

 private:
  passes::Table make(std::uint64_t name, std::size_t size,
                     const std::function<void(passes::NewTable)>& fill) override;
  SlotKey key_of(std::uint64_t name) const;
  std::byte* carve(std::uint64_t name, std::size_t bytes);

  Arena* const arena_;
  const Host& host_;
  const SlotKey key_;
  const Rank self_;
  int users_ = 0;
  const std::size_t least_shared_;
  std::map<std::uint64_t, SlotPart> parts_;  ///< by name: nothing is asked for twice
  passes::OwnTables own_;
};

}  // namespace hocket::engine
