// A writer of JSON, small because Hocket only writes it: objects and arrays nest by calls, commas are its
// business.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace hocket {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool flag);
  JsonWriter& value(double number);  ///< null for what JSON cannot say (infinity, not a number)
  template <std::integral Integer>
  JsonWriter& value(Integer number) {
    return raw(std::to_string(number));
  }

  template <class Value>
  JsonWriter& member(std::string_view name, const Value& content) {
    return key(name).value(content);
  }

  const std::string& text() const { return text_; }
  /// Ends a line of JSON Lines: the next value starts a new one.
  void end_line();

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view text);
  void separate();

  std::string text_;
  bool comma_ = false;  ///< something stands before, on this level
};

}  // namespace hocket
