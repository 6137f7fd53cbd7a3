// A common time for the rounds of all ranks. A rank's rounds are its own: the third round of one may exchange
// with the first of another. Where messages say that two rounds happen at once, they get the same time, as
// do those in which an aggregation's members start it; and each gets the earliest that is possible.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/schedule.hpp"

namespace hocket::passes {

/// The time of each round of each rank (all ranks of one operation, in order), from 0 on, growing from round
/// to round. Rounds without messages lie between. Throws Error where messages have no other half,
/// aggregations not all members, or where ranks would wait for each other for ever if sends were synchronous.
std::vector<std::vector<std::uint32_t>> align(std::span<const ir::Schedule> schedules);

}  // namespace hocket::passes
