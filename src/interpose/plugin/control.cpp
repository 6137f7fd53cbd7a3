// What the program may ask of Hocket: include/hocket/hocket.h, handed on by stage 0.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "interpose/plugin/process.hpp"

namespace hocket::interpose {
namespace {

int switch_to(bool on) {
  const bool was = process.wanted;
  process.wanted = on;
  process.on = on && process.rank >= 0;
  return was;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int hocket_plugin_control(const char* command) {
  const std::string_view word = command ? command : "";
  if (word == "on") return switch_to(true);
  if (word == "off") return switch_to(false);
  return -1;
}

extern "C" __attribute__((visibility("default"))) std::size_t hocket_plugin_report(char* buffer,
                                                                                   std::size_t size) {
  try {
    const std::string text = process.engine->report().text();
    if (size) {
      const std::size_t length = std::min<std::size_t>(size - 1, text.size());
      std::memcpy(buffer, text.data(), length);
      buffer[length] = '\0';
    }
    return text.size();
  } catch (...) {
    return 0;
  }
}

}  // namespace hocket::interpose
