#include "interpose/plugin/write_report.hpp"

#include <cstdio>

#include "base/file.hpp"
#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/process.hpp"

namespace hocket::interpose {

void write_report() {
  const std::string& where = process.engine->options().report;
  if (!process.reporting || process.rank != 0) return;
  process.engine->complete_report();
  if (where == "1")
    std::fputs(process.engine->report().text().c_str(), stderr);
  else if (!write_file(where, process.engine->report().jsonl()))
    say("cannot write the report to " + where);
}

}  // namespace hocket::interpose
