// When the segments of a call were where: being reduced on the node, in the network, being handed out. Of the
// last call alone; for pictures (HOCKET_TRACE).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hocket::engine::aggregation {

class Trace {
 public:
  /// A call of so many aggregations. Throws std::bad_alloc.
  void begin(std::size_t aggregations);
  void started(std::uint32_t step) noexcept;
  void settled(std::uint32_t step) noexcept;
  /// What has been settled in one round is handed out in the next.
  void ended_round() noexcept;
  void end() noexcept;

  /// One object per span: {"call", "segment", "stage", "begin_us", "end_us"}, from the call's beginning.
  std::string jsonl() const;

 private:
  struct Segment {
    std::uint32_t step = 0;
    std::uint32_t settled_in = 0;                            ///< round, from 1
    std::uint64_t started = 0, settled = 0, handed_out = 0;  ///< ns; 0: not yet
  };

  std::uint32_t call_ = 0, round_ = 1;
  std::uint64_t begun_ = 0;
  std::vector<Segment> segments_;
};

}  // namespace hocket::engine::aggregation
