// Reads what text.cpp writes.
#include <charconv>

#include "base/error.hpp"
#include "ir/text.hpp"

namespace hocket::ir {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || c == '_';
}

/// Words, numbers and marks of one line.
class Line {
 public:
  Line(std::string_view text, std::size_t number) : text_(text.substr(0, text.find('#'))), number_(number) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error("line " + std::to_string(number_) + ", column " + std::to_string(at_ + 1) + ": " + what);
  }

  bool at_end() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ == text_.size();
  }

  std::string_view word() {
    at_end();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == begin) fail("a word is missing");
    return text_.substr(begin, at_ - begin);
  }

  bool takes(std::string_view mark) {
    if (at_end() || !text_.substr(at_).starts_with(mark)) return false;
    at_ += mark.size();
    return true;
  }

  void expect(std::string_view mark) {
    if (!takes(mark)) fail("\"" + std::string(mark) + "\" is missing");
  }

  template <class Number>
  Number number() {
    at_end();
    Number value{};
    const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc() || value < 0) fail("a number is missing or too large");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

 private:
  std::string_view text_;
  std::size_t number_;
  std::size_t at_ = 0;
};

class Parser {
 public:
  Schedule parse(std::string_view text) {
    std::size_t number = 0;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      Line line(text.substr(0, end), ++number);
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
      if (!line.at_end()) statement(line);
    }
    if (!has_header_) throw Error("line " + std::to_string(number) + ", column 1: there is no schedule");
    if (!schedule_.ops.empty()) end_round();
    return std::move(schedule_);
  }

 private:
  void statement(Line& line) {
    const std::string_view kind = line.word();
    if (!has_header_ && kind != "schedule") line.fail("a schedule begins with \"schedule\"");
    if (kind == "schedule") {
      header(line);
    } else if (kind == "staging") {
      schedule_.staging = window(line);
    } else if (kind == "scratch") {
      line.expect("planes");
      schedule_.scratch_planes = line.number<std::uint32_t>();
    } else if (kind == "group") {
      group(line);
    } else if (kind == "round") {
      round(line);
    } else {
      line.fail("\"" + std::string(kind) + "\" is none of schedule, staging, scratch, group, round");
    }
    if (!line.at_end()) line.fail("unexpected text");
  }

  void header(Line& line) {
    if (has_header_) line.fail("a second schedule");
    has_header_ = true;
    const auto collective = collective_named(line.word());
    if (!collective) line.fail("unknown collective");
    schedule_.collective = *collective;
    line.expect("ranks");
    schedule_.ranks = line.number<Rank>();
    line.expect("rank");
    schedule_.rank = line.number<Rank>();
    line.expect("root");
    schedule_.root = line.number<Rank>();
    line.expect("chunks");
    schedule_.chunks = line.number<std::uint32_t>();
  }

  static void range(Line& line, std::uint32_t& first, std::uint32_t& count) {
    line.expect("[");
    first = line.number<std::uint32_t>();
    line.expect("..");
    const auto end = line.number<std::uint64_t>();
    if (end < first || end - first > 0xffffffffu)
      line.fail("the range ends before it begins, or is too long");
    count = static_cast<std::uint32_t>(end - first);
    line.expect(")");
  }

  static Window window(Line& line) {
    Window w;
    range(line, w.first, w.count);
    line.expect("planes");
    w.planes = line.number<std::uint32_t>();
    return w;
  }

  static Region region(Line& line) {
    Region r;
    const std::string_view name = line.word();
    if (name == "input")
      r.buffer = Buffer::input;
    else if (name == "output")
      r.buffer = Buffer::output;
    else if (name == "staging")
      r.buffer = Buffer::staging;
    else if (name == "scratch")
      r.buffer = Buffer::scratch;
    else
      line.fail("\"" + std::string(name) + "\" is none of input, output, staging, scratch");
    if (line.takes("@")) r.owner = line.number<Rank>();
    range(line, r.first, r.count);
    return r;
  }

  void group(Line& line) {
    if (line.number<std::uint64_t>() != schedule_.groups.size()) line.fail("groups must ascend by one");
    line.expect(":");
    auto& members = schedule_.groups.emplace_back();
    while (!line.at_end()) members.push_back(line.number<Rank>());
  }

  void round(Line& line) {
    const auto number = line.number<std::uint64_t>();
    if (number == schedule_.rounds.size() + 1 && !schedule_.ops.empty()) end_round();
    if (number != schedule_.rounds.size()) line.fail("rounds must ascend by one");
    line.expect(":");
    op(line, line.word());
  }

  void end_round() { schedule_.rounds.push_back(static_cast<std::uint32_t>(schedule_.ops.size())); }

  void op(Line& line, std::string_view name) {
    Op op;
    if (name == "send" || name == "recv") {
      op.code = name == "send" ? OpCode::send : OpCode::recv;
      op.peer = line.number<Rank>();
      if (op.code == OpCode::send && line.takes("after")) op.held = line.number<std::uint32_t>();
      line.expect(":");
      if (!line.at_end()) sources(line, op, ",");
    } else if (name == "copy" || name == "read" || name == "reduce") {
      op.code = name == "copy" ? OpCode::copy : name == "read" ? OpCode::read : OpCode::reduce;
      op.target = region(line);
      line.expect("=");
      sources(line, op, "+");
    } else if (name == "expose") {
      op.code = OpCode::expose;
      op.target = region(line);
    } else if (name == "signal") {
      op.code = OpCode::signal;
      op.step = line.number<std::uint32_t>();
    } else if (name == "wait") {
      op.code = OpCode::wait;
      op.peer = line.takes("everyone") ? everyone : line.number<Rank>();
      line.expect("step");
      op.step = line.number<std::uint32_t>();
    } else if (name == "aggregate" || name == "settle") {
      op.code = name == "settle" ? OpCode::settle : OpCode::aggregate;
      op.step = line.number<std::uint32_t>();
      line.expect("group");
      op.group = line.number<std::uint32_t>();
      if (op.code == OpCode::aggregate) aggregation(line, op);
    } else {
      line.fail("\"" + std::string(name) + "\" is no op");
    }
    schedule_.ops.push_back(op);
  }

  void aggregation(Line& line, Op& op) {
    op.peer = everyone;
    if (!line.takes("everyone")) {
      line.expect("root");
      op.peer = line.number<Rank>();
    }
    op.target = unwanted;
    if (!line.takes(":")) return;
    const bool only_contributes = line.takes("=");
    if (const Region target = only_contributes ? unwanted : region(line); target.count > 0)
      op.target = target;
    if (only_contributes || line.takes("=")) sources(line, op, "+");
  }

  void sources(Line& line, Op& op, std::string_view separator) {
    op.first_region = static_cast<std::uint32_t>(schedule_.regions.size());
    do {
      schedule_.regions.push_back(region(line));
      ++op.regions;
    } while (line.takes(separator));
  }

  Schedule schedule_;
  bool has_header_ = false;
};

}  // namespace

Schedule parse_schedule(std::string_view text) {
  return Parser().parse(text);
}

}  // namespace hocket::ir
