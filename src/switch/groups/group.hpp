// A group, as one switch of its tree sees it. It finds its root by itself: joins go up until a switch has
// them all, and that one's verdict comes down to all. Refusals travel with the joins, so all members hear the
// same.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "base/clock.hpp"
#include "switch/groups/operations.hpp"
#include "switch/groups/roster.hpp"
#include "switch/groups/site.hpp"
#include "switch/groups/tree_lock.hpp"
#include "switch/wire/frame_reader.hpp"

namespace hocket::aggregation {

/// The same on all switches.
struct GroupName {
  std::uint64_t job = 0;
  std::uint32_t number = 0;
  auto operator<=>(const GroupName&) const = default;
};

class Group {
 public:
  /// Takes what the group needs of this switch, or is refused, which its members hear with the verdict.
  Group(const GroupName& name, std::uint32_t size, Site& site);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  bool is_joining() const noexcept { return state_ == State::joining; }
  /// Nobody knows it any more, and what it had of this switch is free.
  bool is_over() const noexcept { return state_ == State::over; }

  // From below. Throw wire::Malformed for what breaks the rules.
  /// `port` is new, or a switch that has more ranks by now.
  void join(Port& port, std::uint32_t number, const wire::Join& join);
  void leave(Child& child);
  void take(Child& child, const wire::Piece& piece);
  TreeLock& lock();

  // From above. Throw wire::Malformed, likewise.
  void conclude(const wire::Joined& verdict);
  void take_result(const wire::Piece& piece);

  /// The parent is reached: it is told of who waits.
  void go_up();
  /// Of joining.
  void look_at_clock();
  /// Tells all but `origin` (null: nobody is left out), and is over.
  void fail(wire::Error error, std::string_view words, const Port* origin);

 private:
  enum class State : std::uint8_t { joining, established, over };

  Child& child_at(Port& port, std::uint32_t number);
  void check(const Child& newcomer, std::uint32_t size);
  std::uint64_t ranks() const noexcept;
  wire::Join summary() const noexcept;
  void consider();
  void refuse(wire::Error error);
  void end() noexcept;
  void demand_established() const;
  template <class Act>
  void unless_they_disagree(Act act);

  const GroupName name_;
  std::uint32_t size_;  ///< where members disagree, the least: they are refused when so many have come
  Site& site_;
  const Deadline patience_, patience_without_parent_;
  State state_ = State::joining;
  wire::Error refusal_;  ///< of this switch
  bool is_reserved_;
  Roster roster_;
  Operations operations_{roster_, site_.limits, site_.statistics};
  TreeLock lock_{roster_, name_.job, site_.jobs, site_.statistics};
};

}  // namespace hocket::aggregation
