#include "interpose/plugin/explain.hpp"

#include <algorithm>
#include <mutex>

#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/process.hpp"

namespace hocket::interpose {

void explain(const std::string& text) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto& report = process.engine->report();
  if (std::find(report.notes().begin(), report.notes().end(), text) != report.notes().end()) return;
  report.note(text);
  if (process.engine->options().verbose && process.rank == 0) say(text);
}

}  // namespace hocket::interpose
