#include "engine/report.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string_view>

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

// A row is counted by a thread while another prints it: each number is read and written as a whole.
template <class Number>
Number relaxed(const Number& number) {
  Number value;
  __atomic_load(&number, &value, __ATOMIC_RELAXED);
  return value;
}

constexpr std::size_t columns = 7;
using Line = std::array<std::string, columns>;

Line heading() {
  return {"collective", "size", "calls", "time", "per call", "algorithm", "why"};
}

Line line_of(const ReportRow& row) {
  const double mean = row.calls ? row.seconds / static_cast<double>(row.calls) : 0;
  return {std::string(name_of(row.function)),
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

std::string aligned(const std::vector<Line>& lines) {
  std::array<std::size_t, columns> widths{};
  for (const Line& line : lines)
    for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const Line& line : lines) {
    for (std::size_t i = 0; i + 1 < columns; ++i) text += padded(line[i], widths[i], is_number[i]) + "  ";
    text += line.back();
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

bool before(const ReportRow& a, const ReportRow& b) {
  return a.function != b.function ? a.function < b.function : a.size_class < b.size_class;
}

void write_row(JsonWriter& json, const ReportRow& row) {
  json.begin_object()
      .member("collective", name_of(row.function))
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

std::string_view name_of(Function function) {
  return function_names[static_cast<std::size_t>(function)];
}

struct Report::Node {
  ReportRow row;
  Node* next;
};

ReportRow* Report::row(Function function, std::size_t bytes, std::string_view algorithm,
                       std::string_view reason) {
  const auto size_class = static_cast<std::uint8_t>(std::bit_width(bytes));
  const std::lock_guard<std::mutex> guard(rows_mutex());
  for (Node* node = first_; node; node = node->next)
    if (ReportRow& row = node->row; row.function == function && row.size_class == size_class &&
                                    row.algorithm == algorithm && row.reason == reason)
      return &row;
  // Never freed: plans and other threads count through the pointer until the process ends.
  static std::deque<Node>& nodes = *new std::deque<Node>;
  nodes.push_back({{function, size_class, std::string(algorithm), std::string(reason), 0, 0, 0}, first_});
  first_ = &nodes.back();
  return &first_->row;
}

std::vector<ReportRow> Report::rows() const {
  std::vector<ReportRow> rows;
  const std::lock_guard<std::mutex> guard(rows_mutex());
  for (const Node* node = first_; node; node = node->next) {
    const ReportRow& row = node->row;
    rows.push_back({row.function, row.size_class, row.algorithm, row.reason, relaxed(row.calls),
                    relaxed(row.bytes), relaxed(row.seconds)});
  }
  std::reverse(rows.begin(), rows.end());  // in the order of their making, where the sort sees no difference
  std::stable_sort(rows.begin(), rows.end(), before);
  return rows;
}

void Report::note(std::string text) {
  const std::lock_guard<std::mutex> guard(rows_mutex());
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(std::move(text));
}

std::string Report::text() const {
  std::vector<Line> lines{heading()};
  for (const ReportRow& row : rows())
    if (row.calls) lines.push_back(line_of(row));
  std::string text = lines.size() > 1 ? aligned(lines) : std::string("no collective was called\n");
  for (const std::string& note : notes_) text += "note: " + note + "\n";
  return text;
}

std::string Report::jsonl() const {
  JsonWriter json;
  for (const ReportRow& row : rows())
    if (row.calls) write_row(json, row);
  for (const std::string& note : notes_) {
    json.begin_object().member("note", note).end_object();
    json.end_line();
  }
  return json.text();
}

}  // namespace hocket::engine
