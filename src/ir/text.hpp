// Schedules as text that people read and tests compare: a header, then one op per line.
//
//   schedule allreduce ranks 4 rank 1 root 0 chunks 4
//   staging [0..4) planes 2
//   scratch planes 1
//   group 0: 0 1 2 3
//   round 0: copy staging[0..4) = input[0..4)
//   round 0: signal 1
//   round 0: wait 3 step 1                          (or: wait everyone step 1)
//   round 1: read output[0..1) = staging@3[0..1)
//   round 1: reduce output[0..4) = input[0..4) + staging@3[0..4)
//   round 2: send 2: output[0..1), scratch[4..5)    (recv likewise)
//   round 2: expose input[0..4)
//   round 3: aggregate 1 group 0 everyone: output[0..1) = input[0..1)     (a barrier: nothing after everyone)
//   round 3: aggregate 2 group 0 root 2: = input[1..2)                    (without a target; or without a
//   source) round 4: settle 1 group 0
//
// "#" starts a comment; `staging`, `scratch` and `group` lines are left out where there is none.
#pragma once

#include <string>
#include <string_view>

#include "ir/schedule.hpp"

namespace hocket::ir {

std::string to_text(const Region& region);
std::string to_text(const Schedule& schedule, const Op& op);
std::string to_text(const Schedule& schedule);
/// "rank 3, round 1, op 5 (signal 2)"
std::string place_name(const Schedule& schedule, std::uint32_t op);

/// Throws hocket::Error that names line and column. What parses need not be right: that is the verifier's
/// question.
Schedule parse_schedule(std::string_view text);

}  // namespace hocket::ir
