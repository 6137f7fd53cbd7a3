#include "engine/report.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string_view>
#include <tuple>

#include "base/json.hpp"

namespace hocket::engine {
namespace {

constexpr std::array<std::string_view, function_count> function_names = {
    "barrier",  "bcast",     "reduce",     "allreduce", "gather",    "gatherv",        "scatter",
    "scatterv", "allgather", "allgatherv", "alltoall",  "alltoallv", "reduce_scatter", "reduce_scatter_block",
    "scan",     "exscan",    "alltoallw",  "neighbor",  "other"};

/// Rows are made by any thread, rarely; one lock for all reports is enough.
std::mutex& rows_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::string size_text(std::uint64_t bytes) {
  static constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return std::to_string(bytes) + " " + std::string(units[unit]);
}

std::uint64_t class_begin(std::uint8_t size_class) {
  return size_class == 0 ? 0 : std::uint64_t{1} << (size_class - 1);
}

/// "0", "8 B" for 8 to 15 bytes, and so on: the smallest size of the class.
std::string class_text(std::uint8_t size_class) {
  return size_class == 0 ? "-" : size_text(class_begin(size_class)) + " +";
}

std::string seconds_text(double seconds) {
  char text[32];
  if (seconds < 1e-3)
    std::snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
  else if (seconds < 1)
    std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  else
    std::snprintf(text, sizeof text, "%.2f s", seconds);
  return seconds > 0 ? text : "-";
}

std::uint8_t class_of(std::size_t bytes) {
  return static_cast<std::uint8_t>(std::bit_width(bytes));
}

constexpr std::size_t columns = 7;
using Fields = std::array<std::string, columns>;

Fields heading() {
  return {"collective", "size", "calls", "time", "per call", "algorithm", "why"};
}

Fields fields_of(const ReportLine& row) {
  const double mean = row.calls ? row.seconds / static_cast<double>(row.calls) : 0;
  return {name_of(row.called),
          class_text(row.size_class),
          std::to_string(row.calls),
          seconds_text(row.seconds),
          seconds_text(mean),
          row.algorithm,
          row.reason};
}

constexpr bool is_number[columns] = {false, true, true, true, true, false, false};

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string fill(width - std::min(width, text.size()), ' ');
  return right ? fill + text : text + fill;
}

std::string aligned(const std::vector<Fields>& lines) {
  std::array<std::size_t, columns> widths{};
  for (const Fields& line : lines)
    for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const Fields& line : lines) {
    for (std::size_t i = 0; i + 1 < columns; ++i) text += padded(line[i], widths[i], is_number[i]) + "  ";
    text += line.back();
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

bool before(const ReportLine& a, const ReportLine& b) {
  const auto order = [](const ReportLine& line) {
    return std::tuple(line.called.function, line.called.form, line.size_class);
  };
  return order(a) < order(b);
}

std::string plans_text(const PlanCounts& p) {
  return std::to_string(p.misses) + " plans made, used again by " + std::to_string(p.hits) + " calls, " +
         std::to_string(p.evictions) + " given up for others";
}

std::string aggregated_text(const AggregationCounts& a) {
  return "this rank led its node through " + std::to_string(a.calls) + " calls in the network, in " +
         std::to_string(a.groups) + " groups; " + std::to_string(a.repaired) +
         " of them were finished by messages";
}

std::string handed_text(const HandedCounts& h) {
  return "the node's worker was handed " + std::to_string(h.starts) + " calls in " +
         std::to_string(h.start_bytes) + " bytes, and told of " + std::to_string(h.buffers) +
         " sets of buffers in " + std::to_string(h.buffer_bytes) + "; it uses " + std::to_string(h.mapped) +
         " of them where they are";
}

void write_line(JsonWriter& json, const ReportLine& row) {
  json.begin_object()
      .member("collective", name_of(row.called))
      .member("bytes_from", class_begin(row.size_class))
      .member("calls", row.calls)
      .member("bytes", row.bytes)
      .member("seconds", row.seconds)
      .member("algorithm", row.algorithm)
      .member("why", row.reason)
      .end_object();
  json.end_line();
}

}  // namespace

std::string name_of(Called called) {
  const std::string name(function_names[static_cast<std::size_t>(called.function)]);
  if (called.form == Form::nonblocking) return "i" + name;
  return called.form == Form::persistent ? name + "_init" : name;
}

/// The first one of each kind is the shared row; the borrowed ones hang on it. In cache lines of its own,
/// since every owner counts on another core.
struct alignas(64) Report::Node : ReportRow {
  Node* next = nullptr;      ///< kind; or the next one of the same kind
  Node* borrowed = nullptr;  ///< of a kind: all, whether they have an owner or not
  Node* idle = nullptr;      ///< of a kind, and from there on: those without an owner
};

/// Never freed: plans and other threads count through the pointers until the process ends.
Report::Node& Report::new_node(Called called, std::uint8_t size_class, std::string_view algorithm,
                               std::string_view reason) {
  static std::deque<Node>& nodes = *new std::deque<Node>;
  Node& node = nodes.emplace_back();
  node.called = called;
  node.size_class = size_class;
  node.algorithm = algorithm;
  node.reason = reason;
  return node;
}

Report::Node& Report::kind(Called called, std::uint8_t size_class, std::string_view algorithm,
                           std::string_view reason) {
  for (Node* node = first_; node; node = node->next)
    if (node->is_for(called, size_class, algorithm, reason)) return *node;
  Node& node = new_node(called, size_class, algorithm, reason);
  node.next = first_;
  first_ = &node;
  return node;
}

ReportRow* Report::row(Called called, std::size_t bytes, std::string_view algorithm,
                       std::string_view reason) {
  const std::lock_guard<std::mutex> guard(rows_mutex());
  return &kind(called, class_of(bytes), algorithm, reason);
}

ReportRow* Report::borrow(Called called, std::size_t bytes, std::string_view algorithm,
                          std::string_view reason) {
  const std::lock_guard<std::mutex> guard(rows_mutex());
  Node& shared = kind(called, class_of(bytes), algorithm, reason);
  if (Node* const idle = shared.idle) {
    shared.idle = idle->idle;
    return idle;
  }
  Node& node = new_node(called, class_of(bytes), algorithm, reason);
  node.next = shared.borrowed;
  shared.borrowed = &node;
  return &node;
}

void Report::give_back(ReportRow* borrowed) noexcept {
  const std::lock_guard<std::mutex> guard(rows_mutex());
  Node& shared = kind(borrowed->called, borrowed->size_class, borrowed->algorithm, borrowed->reason);
  auto* const node = static_cast<Node*>(borrowed);
  node->idle = shared.idle;
  shared.idle = node;
}

namespace {

// A row is counted by a thread while another prints it: each number is read and written as a whole.
template <class Number>
Number relaxed(const Number& number) {
  Number value;
  __atomic_load(&number, &value, __ATOMIC_RELAXED);
  return value;
}

void add(ReportLine& line, const ReportRow& row) {
  line.calls += relaxed(row.calls);
  line.bytes += relaxed(row.bytes);
  line.seconds += relaxed(row.seconds);
}

}  // namespace

std::vector<ReportLine> Report::lines() const {
  std::vector<ReportLine> lines;
  const std::lock_guard<std::mutex> guard(rows_mutex());
  for (const Node* kind = first_; kind; kind = kind->next) {
    lines.push_back({kind->called, kind->size_class, kind->algorithm, kind->reason});
    add(lines.back(), *kind);
    for (const Node* own = kind->borrowed; own; own = own->next) add(lines.back(), *own);
  }
  std::reverse(lines.begin(),
               lines.end());  // in the order of their making, where the sort sees no difference
  std::stable_sort(lines.begin(), lines.end(), before);
  return lines;
}

bool Report::note(std::string text) {
  const std::lock_guard<std::mutex> guard(rows_mutex());
  if (std::find(notes_.begin(), notes_.end(), text) != notes_.end()) return false;
  notes_.push_back(std::move(text));
  return true;
}

std::vector<std::string> Report::copied_notes() const {
  const std::lock_guard<std::mutex> guard(rows_mutex());
  return notes_;
}

OwnRows::~OwnRows() {
  for (ReportRow* row : rows_) report_.give_back(row);
}

ReportRow* OwnRows::row(Called called, std::size_t bytes, std::string_view algorithm,
                        std::string_view reason) {
  for (ReportRow* row : rows_)
    if (row->is_for(called, class_of(bytes), algorithm, reason)) return row;
  rows_.reserve(rows_.size() + 1);
  rows_.push_back(report_.borrow(called, bytes, algorithm, reason));
  return rows_.back();
}

PlanCounts Report::plans() const {
  PlanCounts counts;
  counts.misses = plans_made_.load(std::memory_order_relaxed);
  counts.evictions = plans_given_up_.load(std::memory_order_relaxed);
  std::uint64_t own_calls = 0;
  for (const ReportLine& line : lines())
    if (line.algorithm != "native") own_calls += line.calls;
  counts.hits = own_calls > counts.misses ? own_calls - counts.misses : 0;
  return counts;
}

HandedCounts Report::handed() const noexcept {
  return {handed_starts_.load(std::memory_order_relaxed), handed_start_bytes_.load(std::memory_order_relaxed),
          handed_buffers_.load(std::memory_order_relaxed),
          handed_buffer_bytes_.load(std::memory_order_relaxed),
          mapped_buffers_.load(std::memory_order_relaxed)};
}

AggregationCounts Report::aggregated() const noexcept {
  return {groups_.load(std::memory_order_relaxed), aggregated_.load(std::memory_order_relaxed),
          repaired_.load(std::memory_order_relaxed)};
}

std::string Report::text() const {
  std::vector<Fields> table{heading()};
  for (const ReportLine& row : lines())
    if (row.calls) table.push_back(fields_of(row));
  std::string text = table.size() > 1 ? aligned(table) : std::string("no collective was called\n");
  if (const PlanCounts p = plans(); p.misses) text += "note: " + plans_text(p) + "\n";
  if (const HandedCounts h = handed(); h.starts) text += "note: " + handed_text(h) + "\n";
  if (const AggregationCounts a = aggregated(); a.calls) text += "note: " + aggregated_text(a) + "\n";
  for (const std::string& note : copied_notes()) text += "note: " + note + "\n";
  return text;
}

std::string Report::jsonl() const {
  JsonWriter json;
  for (const ReportLine& row : lines())
    if (row.calls) write_line(json, row);
  if (const PlanCounts p = plans(); p.misses) {
    json.begin_object()
        .member("plan_hits", p.hits)
        .member("plan_misses", p.misses)
        .member("plan_evictions", p.evictions)
        .end_object();
    json.end_line();
  }
  if (const HandedCounts h = handed(); h.starts) {
    json.begin_object()
        .member("handed_starts", h.starts)
        .member("handed_start_bytes", h.start_bytes)
        .member("handed_buffers", h.buffers)
        .member("handed_buffer_bytes", h.buffer_bytes)
        .member("handed_mapped", h.mapped)
        .end_object();
    json.end_line();
  }
  if (const AggregationCounts a = aggregated(); a.calls) {
    json.begin_object()
        .member("aggregated_calls", a.calls)
        .member("aggregated_groups", a.groups)
        .member("aggregated_repaired", a.repaired)
        .end_object();
    json.end_line();
  }
  for (const std::string& note : copied_notes()) {
    json.begin_object().member("note", note).end_object();
    json.end_line();
  }
  return json.text();
}

}  // namespace hocket::engine
