#include "interpose/plugin/explain.hpp"

#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/process.hpp"

namespace hocket::interpose {

void explain(const std::string& text) {
  const bool is_new = process.engine->report().note(text);
  if (is_new && process.engine->options().verbose && process.rank == 0) say(text);
}

}  // namespace hocket::interpose
