// Shortage and accidents on demand, so that programs on top of the library can be tried where all is well.
// HOCKET_SHARP_FAULTS is a list of these, separated by commas, each with :RANK behind it for one rank of the
// job alone:
//
//   job               sharp_coll_init is refused: SHARP_COLL_EJOB_CREATE
//   group             sharp_coll_comm_init is: SHARP_COLL_EGROUP_ALLOC
//   quota             the same: SHARP_COLL_EQUOTA
//   lock              the lock is always another job's: SHARP_COLL_ELOCK_FAILED
//   delay=MS          each operation is posted so much later
//   disconnect=COUNT  a connection to the switch is cut after so many operations; the next one likewise
//
// Refusals of one rank are all ranks', as they always are.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hocket::sharp {

struct Faults {
  bool job = false, group = false, quota = false, lock = false;
  std::uint32_t delay_ms = 0;
  std::optional<std::uint64_t> disconnect_after;  ///< operations
};

/// Those of this rank. Throws Refusal for what is none.
Faults faults_in(std::string_view text, int world_rank);

}  // namespace hocket::sharp
