// What the members of a group tell each other at the end of an operation, or when the network has failed
// them: which of its aggregations have ended there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/aggregation/member_runs.hpp"

namespace hocket::engine::aggregation {

class Agreement {
 public:
  /// Before an operation of so many aggregations. Throws std::bad_alloc.
  void begin(Rank members, std::size_t aggregations);

  void mark_ended(std::size_t aggregation) noexcept { own_[1 + aggregation / 8] |= bit(aggregation); }
  bool has_ended_here(std::size_t aggregation) const noexcept { return is_set(own_.data(), aggregation); }
  /// This member's group is gone, whatever has ended.
  void mark_lost() noexcept { own_[0] = std::byte{1}; }

  /// Tells the others, from now on: nothing may be marked any more. Throws std::bad_alloc.
  executors::Machine& tell(MemberRuns& members);

  /// In its place, where it is known that nothing has ended anywhere.
  void assume_nothing();

  // after either

  bool is_lost_anywhere() const noexcept;
  bool has_ended(Rank member, std::size_t aggregation) const noexcept {
    return is_set(row(member), aggregation);
  }
  bool has_ended_everywhere(std::size_t aggregation) const noexcept;
  /// The first member with whom it has.
  std::optional<Rank> first_with(std::size_t aggregation) const noexcept;

 private:
  static std::byte bit(std::size_t i) noexcept { return std::byte(1U << i % 8); }
  static bool is_set(const std::byte* row, std::size_t i) noexcept {
    return (row[1 + i / 8] & bit(i)) != std::byte{0};
  }
  const std::byte* row(Rank member) const noexcept {
    return all_.data() + static_cast<std::size_t>(member) * own_.size();
  }

  Rank members_ = 0;
  std::vector<std::byte>
      own_;  ///< a byte that says whether the group is lost, then a bit for each aggregation
  std::vector<std::byte> all_;  ///< rows of all members
  executors::Operation exchange_;
};

}  // namespace hocket::engine::aggregation
