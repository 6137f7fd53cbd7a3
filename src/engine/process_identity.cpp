#include "engine/process_identity.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hocket::engine {
namespace {

constexpr int start_time_field = 22;  // proc(5), counted from 1

}  // namespace

std::uint64_t start_time_of(pid_t pid) {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[1024];
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return 0;
  text[size] = '\0';
  const char* const after_name = std::strrchr(text, ')');  // the name itself may hold spaces and parentheses
  if (!after_name || after_name[1] != ' ') return 0;
  const char state = after_name[2];
  const char* field = after_name + 1;  // the blank before field 3
  for (int number = 3; field && number < start_time_field; ++number) field = std::strchr(field + 1, ' ');
  if (!field || state == 'Z' || state == 'X') return 0;
  return std::strtoull(field, nullptr, 10);
}

std::uint64_t pid_namespace() {
  struct stat info{};
  return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

}  // namespace hocket::engine
