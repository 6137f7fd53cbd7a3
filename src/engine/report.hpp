// What ran: counters per function, size class and decision. Written at Finalize.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/call.hpp"

namespace hocket::engine {

/// As MPI names it, in lower case: allreduce, iallreduce, allreduce_init.
std::string name_of(Called called);

/// Where calls are counted. Each thread that counts at the same time as others has rows of its own (OwnRows);
/// the report adds them up. A shared row is counted by std::atomic_ref, which costs
/// a locked instruction.
struct ReportRow {
  Called called = Function::other;
  std::uint8_t size_class = 0;  ///< bytes in [2^(size_class-1), 2^size_class); 0: no bytes
  std::string algorithm;        ///< "flat", "ring", ... or "native"
  std::string reason;           ///< the rule that chose it, or why it was left to the MPI
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;  ///< only measured when a report is asked for

  bool is_for(Called f, std::uint8_t c, std::string_view a, std::string_view why) const noexcept {
    return called == f && size_class == c && algorithm == a && reason == why;
  }
  /// Only for the row's owner: nobody else writes it, so it needs no locked instruction.
  void count(std::uint64_t more_bytes) noexcept {
    add(calls, std::uint64_t{1});
    add(bytes, more_bytes);
  }
  void count_time(double more) noexcept { add(seconds, more); }

 private:
  template <class Number>
  static void add(Number& number, Number more) noexcept {
    const std::atomic_ref sum(number);
    sum.store(sum.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
};

/// One line of the report: all rows of its kind.
struct ReportLine {
  Called called = Function::other;
  std::uint8_t size_class = 0;
  std::string algorithm;
  std::string reason;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// Of the cache of plans, compiled and interpreted ones.
struct PlanCounts {
  std::uint64_t hits = 0;  ///< calls that ran one that was there
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;
};

/// Of what was handed to the node's worker: a call's buffers are told once, and go by a number afterwards.
struct HandedCounts {
  std::uint64_t starts = 0;
  std::uint64_t start_bytes = 0;  ///< of metadata, in all
  std::uint64_t buffers = 0;      ///< sets of them that were told
  std::uint64_t buffer_bytes = 0;
  std::uint64_t mapped = 0;  ///< sets of buffers that the worker uses where they are
};

/// Of what was reduced, or handed out, inside the network.
struct AggregationCounts {
  std::uint64_t groups = 0;    ///< that were made there
  std::uint64_t calls = 0;     ///< in which this rank was a leader
  std::uint64_t repaired = 0;  ///< of them, those that messages had to finish
};

/// A row is found once per plan (or per reason of a pass-through) and then counted through its pointer, which
/// is good until the process ends.
class Report {
 public:
  /// Shared by all who ask. May allocate: not on the warm path.
  ReportRow* row(Called called, std::size_t bytes, std::string_view algorithm, std::string_view reason);
  /// For one owner, until it is given back: its numbers stay, and the next owner goes on from them.
  ReportRow* borrow(Called called, std::size_t bytes, std::string_view algorithm, std::string_view reason);
  void give_back(ReportRow* borrowed) noexcept;

  std::vector<ReportLine> lines() const;

  /// What calls of one kind run is decided once, and kept for the next one: not found there, and given up for
  /// another kind.
  void count_plan_made() noexcept { plans_made_.fetch_add(1, std::memory_order_relaxed); }
  void count_plan_given_up() noexcept { plans_given_up_.fetch_add(1, std::memory_order_relaxed); }
  PlanCounts plans() const;
  void count_handed_start(std::size_t bytes) noexcept {
    handed_starts_.fetch_add(1, std::memory_order_relaxed);
    handed_start_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void count_handed_buffers(std::size_t bytes) noexcept {
    handed_buffers_.fetch_add(1, std::memory_order_relaxed);
    handed_buffer_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  /// So many so far.
  void set_mapped_buffers(std::uint64_t sets) noexcept {
    mapped_buffers_.store(sets, std::memory_order_relaxed);
  }
  HandedCounts handed() const noexcept;
  void count_group() noexcept { groups_.fetch_add(1, std::memory_order_relaxed); }
  void count_aggregated(bool repaired) noexcept {
    aggregated_.fetch_add(1, std::memory_order_relaxed);
    if (repaired) repaired_.fetch_add(1, std::memory_order_relaxed);
  }
  AggregationCounts aggregated() const noexcept;

  /// A line for the end of the report: what was not possible and why. Once for each text; false: it is there.
  bool note(std::string text);
  const std::vector<std::string>& notes() const { return notes_; }  ///< while nobody adds any

  std::string text() const;   ///< for people
  std::string jsonl() const;  ///< one object per line

 private:
  struct Node;
  static Node& new_node(Called called, std::uint8_t size_class, std::string_view algorithm,
                        std::string_view reason);
  Node& kind(Called called, std::uint8_t size_class, std::string_view algorithm, std::string_view reason);
  std::vector<std::string> copied_notes() const;

  Node* first_ = nullptr;
  std::atomic<std::uint64_t> plans_made_{0}, plans_given_up_{0};
  std::atomic<std::uint64_t> handed_starts_{0}, handed_start_bytes_{0};
  std::atomic<std::uint64_t> handed_buffers_{0}, handed_buffer_bytes_{0}, mapped_buffers_{0};
  std::atomic<std::uint64_t> groups_{0}, aggregated_{0}, repaired_{0};
  std::vector<std::string> notes_;
};

/// The rows that one communicator counts in: MPI runs its collectives one after the other.
class OwnRows {
 public:
  explicit OwnRows(Report& report) : report_(report) {}
  ~OwnRows();
  OwnRows(const OwnRows&) = delete;
  OwnRows& operator=(const OwnRows&) = delete;

  ReportRow* row(Called called, std::size_t bytes, std::string_view algorithm, std::string_view reason);

 private:
  Report& report_;
  std::vector<ReportRow*> rows_;
};

}  // namespace hocket::engine
