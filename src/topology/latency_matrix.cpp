// The text of a latency matrix:
//   us    n0   n1   n2
//   n0    0    1.3  2.4
//   n1    1.3  0    2.5
//   n2    2.4  2.6  0
#include "topology/latency_matrix.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_set>

#include "topology/lines.hpp"

namespace hocket::topology {
namespace {

constexpr std::string_view separators = " \t\r,;";
constexpr double longest_us = 1e9;

std::optional<double> number_in(std::string_view word) {
  double value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (problem != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view origin) : lines_(text, origin), origin_(origin) {}

  LatencyMatrix read() {
    std::vector<std::string_view> row;
    while (next(row)) lines_.here([&] { header_.empty() ? take_header(row) : take_row(row); });
    if (matrix_.hosts.empty()) throw Error(origin_ + " has no rows");
    if (rows_ < matrix_.hosts.size())
      throw Error(origin_ + " has " + std::to_string(rows_) + " rows for " +
                  std::to_string(matrix_.hosts.size()) + " hosts");
    average();
    return std::move(matrix_);
  }

 private:
  bool next(std::vector<std::string_view>& row) {
    for (std::string_view line; lines_.next(line);) {
      row = words(line.substr(0, line.find('#')), separators);
      if (!row.empty()) return true;
    }
    return false;
  }

  void take_header(const std::vector<std::string_view>& row) {
    if (row.size() > LatencyMatrix::most_hosts + 1)
      throw Error("more than " + std::to_string(LatencyMatrix::most_hosts) + " hosts");
    header_ = row;
  }

  /// The first row says whether the header has a word in the corner.
  void name_hosts(std::size_t count) {
    if (count + 1 == header_.size()) header_.erase(header_.begin());
    if (count == 0 || count != header_.size())
      throw Error(std::to_string(count) + " latencies below " + std::to_string(header_.size()) + " names");
    std::unordered_set<std::string_view> different;
    for (const std::string_view host : header_) {
      if (!different.insert(host).second) throw Error("host " + shown(host) + " for the second time");
      matrix_.hosts.emplace_back(host);
    }
    matrix_.us.resize(count * count);
  }

  void take_row(const std::vector<std::string_view>& row) {
    if (matrix_.hosts.empty()) name_hosts(row.size() - 1);
    const std::size_t count = matrix_.hosts.size();
    if (rows_ == count) throw Error("a row more than hosts");
    if (row.front() != matrix_.hosts[rows_])
      throw Error("row " + shown(row.front()) + " stands where that of " + shown(matrix_.hosts[rows_]) +
                  " should: rows have the order of columns");
    if (row.size() != count + 1)
      throw Error(std::to_string(row.size() - 1) + " latencies for " + std::to_string(count) + " hosts");
    for (std::size_t i = 0; i < count; ++i)
      if (i != rows_) matrix_.us[rows_ * count + i] = latency(row[i + 1], i);
    ++rows_;
  }

  double latency(std::string_view word, std::size_t column) const {
    const auto value = number_in(word);
    if (!value || *value <= 0 || *value > longest_us)
      throw Error("column " + std::to_string(column + 2) + " (" + printable(matrix_.hosts[column]) +
                  "): " + shown(word) + " is no latency in microseconds");
    return *value;
  }

  void average() {
    const std::size_t count = matrix_.hosts.size();
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; b < a; ++b) {
        double &there = matrix_.us[a * count + b], &back = matrix_.us[b * count + a];
        there = back = (there + back) / 2;
      }
  }

  Lines lines_;
  const std::string origin_;
  std::vector<std::string_view> header_;
  LatencyMatrix matrix_;
  std::size_t rows_ = 0;
};

}  // namespace

LatencyMatrix parse_latency_matrix(std::string_view text, std::string_view origin) {
  return Reader(text, origin).read();
}

}  // namespace hocket::topology
