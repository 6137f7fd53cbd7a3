// The outstanding operations of a group, from its verdict on: what comes up is combined and goes on, what
// comes down goes to all children.
#pragma once

#include <cstdint>
#include <map>

#include "switch/groups/limits.hpp"
#include "switch/groups/operation.hpp"
#include "switch/groups/roster.hpp"
#include "switch/groups/statistics.hpp"
#include "switch/wire/frame_reader.hpp"

namespace hocket::aggregation {

class Operations {
 public:
  Operations(const Roster& roster, const Limits& limits, Statistics& statistics)
      : roster_(roster), limits_(limits), statistics_(statistics) {}

  /// From a child. Throws wire::Malformed for what breaks the rules, Disagreement where the group cannot go
  /// on.
  void take(Child& child, const wire::Piece& piece);
  /// From above. Throws wire::Malformed.
  void take_result(const wire::Piece& piece);
  /// Some operation cannot end without it.
  bool need(const Child& child) const noexcept;

 private:
  using Row = std::map<std::uint32_t, Operation>::iterator;

  Operation& operation_of(const wire::FrameHead& head);
  void begin(Child& child, bool is_streaming) const;
  void move_ahead(Child& child, std::uint64_t bytes) const;
  void go_on(Row row, const Advance& advance);
  void pass_up(Row row, const Advance& advance) const;
  void deliver(Row row, const Advance& advance);
  void send_result(const Child& child, Row row, const Advance& advance) const;
  void end(Row row);

  const Roster& roster_;
  const Limits& limits_;
  Statistics& statistics_;
  std::map<std::uint32_t, Operation> outstanding_;  ///< by number
};

}  // namespace hocket::aggregation
