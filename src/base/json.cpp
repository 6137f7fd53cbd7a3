#include "base/json.hpp"

#include <cmath>
#include <cstdio>

namespace hocket {
namespace {

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      break;
  }
  if (static_cast<unsigned char>(c) >= 0x20) {
    out += c;
    return;
  }
  char code[8];
  std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned char>(c));
  out += code;
}

}  // namespace

void JsonWriter::separate() {
  if (comma_) text_ += ',';
  comma_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  text_ += bracket;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  separate();
  text_ += text;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  value(name);
  text_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  text_ += '"';
  for (char c : text) append_escaped(text_, c);
  text_ += '"';
  return *this;
}

JsonWriter& JsonWriter::value(bool flag) {
  return raw(flag ? "true" : "false");
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return raw("null");
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.9g", number);
  return raw(digits);
}

void JsonWriter::end_line() {
  text_ += '\n';
  comma_ = false;
}

}  // namespace hocket
