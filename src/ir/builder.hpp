// How an algorithm writes down one rank's schedule. Calls append ops to the current round; round() ends it.
#pragma once

#include <initializer_list>
#include <span>
#include <utility>

#include "ir/request.hpp"
#include "ir/schedule.hpp"

namespace hocket::ir {

inline Region input(std::uint32_t first, std::uint32_t count = 1) {
  return {self, Buffer::input, first, count};
}
inline Region output(std::uint32_t first, std::uint32_t count = 1) {
  return {self, Buffer::output, first, count};
}
inline Region scratch(std::uint32_t first, std::uint32_t count = 1) {
  return {self, Buffer::scratch, first, count};
}
inline Region staging(std::uint32_t first, std::uint32_t count = 1) {
  return {self, Buffer::staging, first, count};
}
/// A peer's staging buffer (or, with `of`, its exposed input or output).
inline Region of(Rank owner, Region r) {
  r.owner = owner;
  return r;
}

class Builder {
 public:
  /// `schedule` comes with the request's shape filled in; ops are appended to it.
  explicit Builder(Schedule& schedule) : schedule_(schedule) {}

  /// `held`: until so many recvs of the round have ended.
  void send(Rank peer, std::span<const Region> pieces, std::uint32_t held = 0);
  void send(Rank peer, Region piece, std::uint32_t held = 0) { send(peer, std::span(&piece, 1), held); }
  void recv(Rank peer, std::span<const Region> pieces);
  void recv(Rank peer, Region piece) { recv(peer, std::span(&piece, 1)); }

  /// target = source; a source owned by a peer makes it a one-sided read. Equal regions need no copy and add
  /// none.
  void copy(Region target, Region source);
  void reduce(Region target, std::span<const Region> sources);
  void reduce(Region target, std::initializer_list<Region> sources) {
    reduce(target, std::span(sources.begin(), sources.size()));
  }

  void expose(Region region);
  std::uint32_t signal();  ///< returns the step that it publishes
  void wait(Rank peer, std::uint32_t step);
  void wait_everyone(std::uint32_t step) { wait(everyone, step); }

  /// The number of a group that aggregates; equal lists are one group.
  std::uint32_t group(std::span<const Rank> members);
  /// `root`: a member, or everyone. No `source`, or one; a `target` without chunks (`unwanted`) gets no
  /// result. Returns the step to settle.
  std::uint32_t aggregate(std::uint32_t group, Rank root, Region target, std::span<const Region> source);
  void settle(std::uint32_t group, std::uint32_t step);

  void round();   ///< ends the current round (nothing happens if it is empty)
  void finish();  ///< ends the last round

 private:
  Op& append(OpCode code, std::span<const Region> regions);

  Schedule& schedule_;
  std::uint32_t steps_ = 0;
  std::uint32_t aggregations_ = 0;
};

}  // namespace hocket::ir
