// One run as a line to read and as a line of JSON, from the same figures.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <string>

#include "shared/forms.hpp"
#include "shared/stopwatch.hpp"

namespace apps {

class Report {
 public:
  Report(const std::string& app, Form form, int ranks, const Timing& timing) {
    human_ = app + " " + name_of(form);
    word("app", app).word("form", name_of(form)).number("ranks", ranks);
    number("seconds", timing.seconds).number("communication_share", timing.communication_share);
    char text[80];
    std::snprintf(text, sizeof text, ": %.4g s, %.1f %% of it in MPI", timing.seconds,
                  100 * timing.communication_share);
    tail_ = text;
  }

  Report& word(const std::string& key, const std::string& value) { return put(key, '"' + value + '"'); }
  Report& number(const std::string& key, double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return put(key, text);
  }

  // The two that a reader wants to see, too: how it was done, and a figure that came of it.
  Report& choice(const std::string& key, const std::string& value) {
    human_ += " " + value;
    return word(key, value);
  }
  Report& result(const std::string& key, double value) {
    char text[64];
    std::snprintf(text, sizeof text, ", %s %.4g", key.c_str(), value);
    tail_ += text;
    return number(key, value);
  }

  void print(bool right) {
    put("right", right ? "true" : "false");
    std::printf("%s%s: %s\n{%s}\n", human_.c_str(), tail_.c_str(), right ? "right" : "WRONG", json_.c_str());
    std::fflush(stdout);
  }

 private:
  Report& put(const std::string& key, const std::string& value) {
    json_ += (json_.empty() ? "\"" : ", \"") + key + "\": " + value;
    return *this;
  }

  std::string human_, tail_, json_;
};

}  // namespace apps
