#include "base/json.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace hocket {
namespace {

TEST(Json, nests_and_separates) {
  JsonWriter json;
  json.begin_object()
      .member("a", 1)
      .key("b")
      .begin_array()
      .value(true)
      .value("x")
      .begin_object()
      .end_object();
  json.end_array().member("c", 0.5).end_object();
  EXPECT_EQ(json.text(), R"({"a":1,"b":[true,"x",{}],"c":0.5})");
}

TEST(Json, escapes_what_json_cannot_hold) {
  JsonWriter json;
  json.value(std::string_view("q\" b\\ n\n t\t \x01 é"));
  EXPECT_EQ(json.text(), "\"q\\\" b\\\\ n\\n t\\t \\u0001 é\"");
}

TEST(Json, numbers_that_are_none_become_null) {
  JsonWriter json;
  json.begin_array().value(std::numeric_limits<double>::infinity()).value(std::uint64_t{1} << 63).end_array();
  EXPECT_EQ(json.text(), "[null,9223372036854775808]");
}

TEST(Json, lines_are_independent) {
  JsonWriter json;
  for (int i = 0; i < 2; ++i) {
    json.begin_object().member("i", i).end_object();
    json.end_line();
  }
  EXPECT_EQ(json.text(), "{\"i\":0}\n{\"i\":1}\n");
}

}  // namespace
}  // namespace hocket
