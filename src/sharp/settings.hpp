// What the environment says: where the switches are, and SHARP's own variables, of which this library knows
// those that limit what it does. It is read when a context is made: NCCL's plugin sets variables before that.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "sharp/faults.hpp"
#include "tcp/connection.hpp"
#include "tcp/key.hpp"

namespace hocket::sharp {

struct Settings {
  std::vector<tcp::Place> places;  ///< of the leaf switch, in each tree
  tcp::Key key;
  bool streams = false;
  std::uint64_t streaming_from = 0;  ///< bytes
  bool locks_at_once = false;        ///< when a communicator is made
  std::uint32_t lock_batch =
      0;  ///< streaming operations for which a lock is kept; 0: as long as the group is there
  // of a job; 0: what the tree gives
  std::uint32_t most_operations = 0, most_groups = 0, operations_per_group = 0, payload = 0;
  Faults faults;

  /// Throws Refusal for what cannot be read.
  static Settings from_environment(int world_rank);
};

/// The variables with their values, for people.
void print_settings(std::FILE* stream);

}  // namespace hocket::sharp
