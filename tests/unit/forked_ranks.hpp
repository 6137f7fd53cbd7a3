// Ranks as forked processes: each runs a function and hands back a line of text; the test compares the lines.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "engine/arena.hpp"

namespace hocket::test {

class ForkedRanks {
 public:
  using Body = std::function<std::string(int rank)>;

  void start(int rank, const Body& body) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t pid = fork();
    if (pid == 0) {
      close(ends[0]);
      alarm(30);
      const std::string text = outcome_of(body, rank);
      _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    close(ends[1]);
    children_.push_back({pid, ends[0]});
  }
  ForkedRanks& start_all(int ranks, const Body& body) {
    for (int rank = 0; rank < ranks; ++rank) start(rank, body);
    return *this;
  }
  pid_t pid(std::size_t index) const { return children_[index].pid; }

  /// In order of start; "signal N" for those that were killed.
  std::vector<std::string> wait() {
    std::vector<std::string> texts;
    for (const Child& child : children_) {
      std::string text;
      char part[512];
      for (ssize_t size; (size = read(child.pipe, part, sizeof part)) > 0;)
        text.append(part, static_cast<std::size_t>(size));
      close(child.pipe);
      int status = 0;
      waitpid(child.pid, &status, 0);
      texts.push_back(WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) : text);
    }
    children_.clear();
    return texts;
  }

 private:
  struct Child {
    pid_t pid;
    int pipe;
  };
  static std::string outcome_of(const Body& body, int rank) {
    try {
      return body(rank);
    } catch (const std::exception& error) {
      return std::string("error: ") + error.what();
    }
  }
  std::vector<Child> children_;
};

/// A key that no other test and no other run uses.
inline std::string new_key() {
  static int count = 0;
  return "test " + std::to_string(getpid()) + "." + std::to_string(count++);
}

inline engine::JobIdentity job(const std::string& key, int local_rank, int local_size) {
  return {key, local_rank, local_size, "test"};
}

inline engine::ArenaSettings settings(double seconds = 10, std::string fingerprint = "hocket 0") {
  engine::ArenaSettings settings;
  settings.budget_bytes = 1 << 20;
  settings.setup_seconds = seconds;
  settings.fingerprint = std::move(fingerprint);
  return settings;
}

/// The way of a rank up to the sealed arena; world ranks are ten times the local ones, plus one.
inline std::unique_ptr<engine::Arena> come_up(const std::string& key, int local_rank, int local_size,
                                              const engine::ArenaSettings& with = settings()) {
  auto arena = engine::Arena::announce(job(key, local_rank, local_size), with);
  arena->introduce(10 * local_rank + 1, 10 * local_size);
  return arena;
}

/// A barrier for tests: counts in shared memory of the arena, which it takes while there is some.
class Meeting {
 public:
  Meeting(engine::Arena& arena, std::uint64_t name, int users)
      : count_(reinterpret_cast<std::uint32_t*>(arena.carve({0xba44, name, 9}, 64, users).memory)),
        users_(static_cast<std::uint32_t>(users)) {}

  void meet() {
    target_ += users_;
    __atomic_add_fetch(count_, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(count_, __ATOMIC_ACQUIRE) < target_) usleep(200);
  }

 private:
  std::uint32_t* count_;
  std::uint32_t users_;
  std::uint32_t target_ = 0;
};

inline void meet(engine::Arena& arena, std::uint64_t name, int users) {
  Meeting(arena, name, users).meet();
}

}  // namespace hocket::test
