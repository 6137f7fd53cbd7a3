#include "interpose/plugin/write_report.hpp"

#include <cstdio>
#include <memory>

#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/process.hpp"

namespace hocket::interpose {
namespace {

void write_file(const std::string& path, const std::string& text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"), std::fclose);
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size())
    say("cannot write the report to " + path);
}

}  // namespace

void write_report() {
  const std::string& where = process.engine->options().report;
  if (!process.reporting || process.rank != 0) return;
  if (where == "1")
    std::fputs(process.engine->report().text().c_str(), stderr);
  else
    write_file(where, process.engine->report().jsonl());
}

}  // namespace hocket::interpose
