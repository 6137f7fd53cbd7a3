#include "switch/stats_page.hpp"

#include <cstdint>
#include <vector>

#include "base/json.hpp"
#include "base/text.hpp"
#include "switch/wire/words.hpp"

namespace hocket::aggregation {

namespace {

struct Row {
  std::string_view name;
  bool is_now;  ///< a state, not a sum since the start
  std::uint64_t value;
};

std::vector<Row> rows_of(const Statistics& of) {
  return {{"connections", false, of.connections},
          {"connections_not_admitted", false, of.not_admitted},
          {"connections_malformed", false, of.malformed},
          {"connections_lost", false, of.lost},
          {"children", true, of.children},
          {"jobs", true, of.jobs},
          {"groups", true, of.groups},
          {"groups_founded", false, of.groups_founded},
          {"groups_failed", false, of.groups_failed},
          {"operations_small", false, of.small_operations},
          {"operations_streaming", false, of.streaming_operations},
          {"bytes_from_children", false, of.below.in},
          {"bytes_to_children", false, of.below.out},
          {"bytes_from_parent", false, of.above.in},
          {"bytes_to_parent", false, of.above.out}};
}

double busy_seconds(const Statistics& of) noexcept {
  return static_cast<double>(of.busy_ns) * 1e-9;
}

std::string as_json(const Statistics& statistics) {
  JsonWriter json;
  json.begin_object();
  for (const Row& row : rows_of(statistics)) json.member(row.name, row.value);
  json.member("busy_seconds", busy_seconds(statistics));
  json.key("refusals").begin_object();
  for (const auto& [error, count] : statistics.refusals) json.member(wire::words_of(error), count);
  json.end_object().end_object();
  return json.text() + "\n";
}

/// Prometheus, text-based exposition format, version 0.0.4.
class Metrics {
 public:
  void add_type(std::string_view name, bool is_now) {
    text_.append("# TYPE ").append(full(name, is_now)).append(is_now ? " gauge\n" : " counter\n");
  }
  void add(std::string_view name, bool is_now, std::string_view labels, const std::string& value) {
    text_.append(full(name, is_now)).append(labels).append(" ").append(value).append("\n");
  }
  const std::string& text() const { return text_; }

 private:
  static std::string full(std::string_view name, bool is_now) {
    return std::string("hocket_switch_").append(name).append(is_now ? "" : "_total");
  }
  std::string text_;
};

std::string as_metrics(const Statistics& statistics) {
  Metrics metrics;
  for (const Row& row : rows_of(statistics)) {
    metrics.add_type(row.name, row.is_now);
    metrics.add(row.name, row.is_now, "", std::to_string(row.value));
  }
  metrics.add_type("busy_seconds", false);
  metrics.add("busy_seconds", false, "", std::to_string(busy_seconds(statistics)));
  metrics.add_type("refusals", false);
  for (const auto& [error, count] : statistics.refusals)
    metrics.add("refusals", false, "{reason=\"" + std::string(wire::words_of(error)) + "\"}",
                std::to_string(count));
  return metrics.text();
}

std::string response(std::string_view status, std::string_view type, std::string_view body) {
  return std::string("HTTP/1.1 ")
      .append(status)
      .append("\r\nContent-Type: ")
      .append(type)
      .append("\r\nContent-Length: ")
      .append(std::to_string(body.size()))
      .append("\r\nConnection: close\r\n\r\n")
      .append(body);
}

}  // namespace

bool is_whole_request(std::string_view request) noexcept {
  return request.size() >= longest_request || request.find("\r\n\r\n") != std::string_view::npos ||
         request.find("\n\n") != std::string_view::npos;
}

std::string answer_to(std::string_view request, const Statistics& statistics) {
  constexpr std::string_view plain = "text/plain; charset=utf-8";
  const std::vector<std::string_view> said = words(request.substr(0, request.find('\n')));
  const bool is_request = said.size() == 3 && said[0] == "GET" && said[2].starts_with("HTTP/1.") &&
                          request.size() < longest_request;
  if (!is_request) return response("400 Bad Request", plain, "GET /metrics or /stats.json\n");
  const std::string_view path = said[1].substr(0, said[1].find('?'));
  if (path == "/metrics")
    return response("200 OK", "text/plain; version=0.0.4; charset=utf-8", as_metrics(statistics));
  if (path == "/stats.json") return response("200 OK", "application/json", as_json(statistics));
  return response("404 Not Found", plain, "there are /metrics and /stats.json\n");
}

}  // namespace hocket::aggregation
