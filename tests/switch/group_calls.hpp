// What members of a group do with each other in most tests, and how they hear that it is over.
#pragma once

#include <cstring>
#include <string>

#include "member.hpp"

namespace hocket::harness {

/// Sums one number of each member of a group.
inline std::uint32_t sum(Member& member, std::uint32_t group, std::uint32_t operation, std::uint32_t own) {
  const Call call{.type = kernels::ElementType::u32, .op = kernels::OpKind::sum, .total = sizeof own};
  const Bytes result = member.run(group, operation, call, std::as_bytes(std::span(&own, 1)));
  std::uint32_t value = 0;
  std::memcpy(&value, result.data(), sizeof value);
  return value;
}

/// What the member hears of its group's end; empty: nothing.
inline std::string failure_of(Member& member, std::uint32_t group) {
  try {
    member.expect(wire::FrameKind::joined, group);
  } catch (const GroupFailed& failed) {
    return failed.what();
  }
  return "";
}

inline bool is_cut_off(Member& member) {
  try {
    for (int i = 0; i < 1000; ++i)
      if (!member.hear(5)) return false;
    return false;
  } catch (const hocket::Error&) {
    return true;
  }
}

inline bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace hocket::harness
