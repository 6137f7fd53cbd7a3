#include "engine/aggregation/trace.hpp"

#include "base/clock.hpp"
#include "base/json.hpp"

namespace hocket::engine::aggregation {

namespace {

double us_between(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(to - from) * 1e-3;
}

}  // namespace

void Trace::begin(std::size_t aggregations) {
  segments_.clear();
  segments_.reserve(aggregations);
  ++call_;
  round_ = 1;
  begun_ = monotonic_ns();
}

void Trace::started(std::uint32_t step) noexcept {
  segments_.push_back({step, 0, monotonic_ns(), 0, 0});  // there is room
}

void Trace::settled(std::uint32_t step) noexcept {
  for (Segment& segment : segments_) {
    if (segment.step != step) continue;
    segment.settled = monotonic_ns();
    segment.settled_in = round_;
  }
}

void Trace::ended_round() noexcept {
  for (Segment& segment : segments_)
    if (segment.settled != 0 && segment.handed_out == 0 && segment.settled_in < round_)
      segment.handed_out = monotonic_ns();
  ++round_;
}

void Trace::end() noexcept {
  for (Segment& segment : segments_)
    if (segment.settled != 0 && segment.handed_out == 0) segment.handed_out = monotonic_ns();
}

std::string Trace::jsonl() const {
  JsonWriter json;
  const auto span = [&](std::size_t segment, const char* stage, std::uint64_t from, std::uint64_t to) {
    json.begin_object()
        .member("call", call_)
        .member("segment", segment)
        .member("stage", stage)
        .member("begin_us", us_between(begun_, from))
        .member("end_us", us_between(begun_, to))
        .end_object();
    json.end_line();
  };
  std::uint64_t reduced_since = begun_;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& s = segments_[i];
    span(i, "reduce", reduced_since, s.started);
    span(i, "network", s.started, s.settled);
    span(i, "broadcast", s.settled, s.handed_out);
    reduced_since = s.started;
  }
  return json.text();
}

}  // namespace hocket::engine::aggregation
