// In which form a program communicates, and how often each form runs: in turns, so that what disturbs the
// machine for a while disturbs all forms alike.
#pragma once

#include <vector>

#include "shared/command_line.hpp"

namespace apps {

enum class Form { blocking, nonblocking };

inline const char* name_of(Form form) {
  return form == Form::blocking ? "blocking" : "nonblocking";
}

class Forms {
 public:
  void add_to(CommandLine& line) {
    line.flag("--blocking", blocking_, "blocking collectives, no overlap");
    line.flag("--nonblocking", nonblocking_,
              "non-blocking collectives, overlapped; without either: both, in turns");
    line.number("--tests", tests_, 0, 1 << 20, "calls of MPI_Test while one operation is overlapped");
    line.number("--repeat", repeat_, 1, 1 << 20, "how often each form runs");
  }

  std::vector<Form> chosen() const {
    if (blocking_ == nonblocking_) return {Form::blocking, Form::nonblocking};
    return {blocking_ ? Form::blocking : Form::nonblocking};
  }

  int tests() const { return tests_; }
  int repeat() const { return repeat_; }

 private:
  bool blocking_ = false, nonblocking_ = false;
  int tests_ = 4;
  int repeat_ = 1;
};

}  // namespace apps
