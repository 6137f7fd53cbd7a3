// Where a communicator comes from, as a number that all its members compute alone. With the hash of its
// members it names the communicator in the node's arena (engine::SlotKey), so that no message is needed to
// set one up.
#pragma once

#include <cstdint>
#include <string_view>

#include "interpose/plugin/communicators.hpp"

namespace hocket::interpose {

inline constexpr Origin world_origin = 0x686f636b65740001;  // "hocket"

enum class Making : std::uint8_t {
  dup,
  split,
  split_type,
  create,
  create_group,
  create_from_group,
  topology,
};

/// Order matters: hashes a list of numbers.
class OriginHash {
 public:
  explicit OriginHash(std::uint64_t seed) : value_(seed) {}
  OriginHash& add(std::uint64_t x);
  OriginHash& add(std::string_view text);
  Origin value() const { return value_ ? value_ : 1; }

 private:
  std::uint64_t value_;
};

/// MPI makes all members of `parent` take part, in the same order: a count is enough to tell its children
/// apart.
Origin next_child(Communicator& parent, Making making);

/// Only the group's members take part: counted per group and tag. 0 if its members are not known.
Origin next_of_group(std::uint64_t seed, MPI_Group group, std::string_view tag);

}  // namespace hocket::interpose
