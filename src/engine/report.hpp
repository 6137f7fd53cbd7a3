// What ran: counters per function, size class and decision. Written at Finalize.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/call.hpp"

namespace hocket::engine {

inline constexpr std::size_t function_count = static_cast<std::size_t>(Function::other) + 1;
std::string_view name_of(Function function);

/// One line of the report.
struct ReportRow {
  Function function = Function::other;
  std::uint8_t size_class = 0;  ///< bytes in [2^(size_class-1), 2^size_class); 0: no bytes
  std::string algorithm;        ///< "flat", "ring", ... or "native"
  std::string reason;           ///< the rule that chose it, or why it was left to the MPI
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;  ///< only measured when a report is asked for
};

/// A row is found once per plan (or per reason of a pass-through) and then counted through its pointer.
class Report {
 public:
  /// Stable address until the process ends. May allocate: not on the warm path.
  ReportRow* row(Function function, std::size_t bytes, std::string_view algorithm, std::string_view reason);
  std::vector<ReportRow> rows() const;
  void note(std::string text);  ///< a line for the end of the report: what was not possible and why
  const std::vector<std::string>& notes() const { return notes_; }

  std::string text() const;   ///< for people
  std::string jsonl() const;  ///< one object per line

 private:
  struct Node;
  Node* first_ = nullptr;
  std::vector<std::string> notes_;
};

}  // namespace hocket::engine
