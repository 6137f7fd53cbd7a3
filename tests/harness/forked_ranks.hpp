// Ranks as forked processes: each runs a function and hands back a line of text; the test compares the lines.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

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

/// Something that happens in one process and is waited for in another; made before they are forked.
class Event {
 public:
  Event() {
    if (pipe(ends_) != 0) std::abort();
  }
  ~Event() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// One for each who waits.
  void happen() const {
    if (write(ends_[1], "!", 1) != 1) std::abort();
  }
  void wait() const {
    char mark = 0;
    if (read(ends_[0], &mark, 1) != 1) std::abort();
  }

 private:
  int ends_[2] = {};
};

/// A key that no other test and no other run uses.
inline std::string new_key() {
  static int count = 0;
  return "test " + std::to_string(getpid()) + "." + std::to_string(count++);
}

}  // namespace hocket::test
