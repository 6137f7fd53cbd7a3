// What all ranks of a context do alike: how operations are cut and which of them stream must not differ from
// rank to rank, though the environment may. And what the caller is told that there is.
#pragma once

#include <cstdint>
#include <span>

#include "sharp/api/sharp_coll.h"
#include "sharp/settings.hpp"
#include "switch/wire/frames.hpp"

namespace hocket::sharp {

struct Terms {
  std::int32_t error = SHARP_COLL_SUCCESS;  ///< of the rank; agreed: of the first that has one
  std::uint32_t trees = 0;
  std::uint32_t most_groups = 0, most_operations = 0;  ///< of all trees together
  std::uint32_t operations_per_group = 0;
  std::uint32_t payload = 0;  ///< bytes of an operation in datagram mode
  std::uint32_t streams = 0, locks_at_once = 0, lock_batch = 0;
  std::uint64_t streaming_from = 0;

  /// Of one rank, that was welcomed so at its leaf switches.
  static Terms of(const Settings& settings, std::span<const wire::Welcome> welcomes) noexcept;
  /// What holds for all of these.
  static Terms of_all(std::span<const Terms> ranks) noexcept;
  /// By a switch that is reached again, which may have been started otherwise.
  bool are_kept_by(const wire::Welcome& welcome) const noexcept;
};

sharp_coll_caps capabilities(const Terms& terms) noexcept;

}  // namespace hocket::sharp
