#include "base/process_identity.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hocket {
namespace {

// proc(5), counted from 1
constexpr int state_field = 3, user_time_field = 14, system_time_field = 15, start_time_field = 22;

/// What the system tells of a process in one line.
class Stat {
 public:
  explicit Stat(pid_t pid) {
    char path[48];
    std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t size = read(file, text_, sizeof text_ - 1);
    close(file);
    text_[size > 0 ? size : 0] = '\0';
    const char* const after_name =
        std::strrchr(text_, ')');  // the name itself may hold spaces and parentheses
    if (after_name && after_name[1] == ' ') before_state_ = after_name + 1;
  }

  /// 0: there is no such process, or only its remains.
  char state() const {
    const char state = before_state_ ? before_state_[1] : '\0';
    return state == 'Z' || state == 'X' ? '\0' : state;
  }
  /// After the state.
  std::uint64_t number(int field) const {
    const char* blank = before_state_;
    for (int at = state_field; blank && at < field; ++at) blank = std::strchr(blank + 1, ' ');
    return blank ? std::strtoull(blank, nullptr, 10) : 0;
  }

 private:
  char text_[1024] = "";
  const char* before_state_ = nullptr;
};

}  // namespace

std::uint64_t start_time_of(pid_t pid) {
  const Stat stat(pid);
  return stat.state() ? stat.number(start_time_field) : 0;
}

Activity activity_of(pid_t pid) {
  const Stat stat(pid);
  const auto tick_ns = std::uint64_t{1'000'000'000} / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  return {stat.state(), (stat.number(user_time_field) + stat.number(system_time_field)) * tick_ns};
}

std::uint64_t pid_namespace() {
  struct stat info{};
  return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

}  // namespace hocket
