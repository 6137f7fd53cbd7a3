// When the messages of an operation are on their way, counted in messages that wait for each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/schedule.hpp"

namespace hocket::tuning {

struct Sent {
  ir::Rank from, to;
  std::uint32_t chunks;
  std::uint32_t time;
};

/// Of the schedules of all ranks, in order. A message's time is the earliest at which both sides have
/// received what they receive in rounds before: only receiving takes time. What a rank sends in several
/// rounds without receiving in between leaves at once, as it does where messages are buffered; what is held
/// leaves with the other messages of its round. Throws Error where a message has no other half, ranks wait
/// for each other, or there are aggregations.
std::vector<Sent> timeline(std::span<const ir::Schedule> schedules);

}  // namespace hocket::tuning
