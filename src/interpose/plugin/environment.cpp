#include "interpose/plugin/environment.hpp"

#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "interpose/plugin/process.hpp"

namespace hocket::interpose {
namespace {

constexpr const char* variable = "LD_PRELOAD";
constexpr const char* separators = ": ";
std::string whole;  // as it was, while our entry is taken out; empty otherwise
std::mutex around;
int inside = 0;  // threads that need it whole

bool is_same_file(const std::string& a, const std::string& b) {
  char first[4096], second[4096];
  if (a == b) return true;
  return realpath(a.c_str(), first) && realpath(b.c_str(), second) && std::string_view(first) == second;
}

std::string without(std::string_view list, const std::string& entry) {
  std::string kept;
  while (!list.empty()) {
    const std::size_t end = list.find_first_of(separators);
    const std::string item(list.substr(0, end));
    if (!item.empty() && !is_same_file(item, entry)) kept += (kept.empty() ? "" : ":") + item;
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  }
  return kept;
}

// Beside it: of no use to programs that are no ranks.
std::string heap_path() {
  const std::string self = process.stage0->self_path;
  return self.substr(0, self.rfind('/') + 1) + "libhocket_heap.so";
}

}  // namespace

void leave_preload() {
  const char* list = std::getenv(variable);
  if (!list) return;
  const std::string rest = without(without(list, process.stage0->self_path), heap_path());
  if (rest == list) return;
  whole = list;
  if (rest.empty())
    unsetenv(variable);
  else
    setenv(variable, rest.c_str(), 1);
}

std::string whole_preload() {
  const std::lock_guard lock(around);
  const char* list = std::getenv(variable);
  if (!whole.empty()) return whole;
  return list ? list : "";
}

PreloadAround::PreloadAround() {
  const std::lock_guard lock(around);
  if (inside++ == 0 && !whole.empty()) setenv(variable, whole.c_str(), 1);
}

PreloadAround::~PreloadAround() {
  const std::lock_guard lock(around);
  if (--inside == 0 && !whole.empty()) leave_preload();
}

}  // namespace hocket::interpose
