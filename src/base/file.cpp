#include "base/file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/error.hpp"

namespace hocket {
namespace {

class Opened {
 public:
  explicit Opened(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~Opened() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  int descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
};

/// False with errno.
bool has_more(int descriptor, int wait_ms) {
  pollfd waiting = {descriptor, POLLIN, 0};
  const int ready = wait_ms == 0 ? 0 : poll(&waiting, 1, wait_ms);
  if (ready == 0) errno = ETIMEDOUT;
  return ready > 0;
}

/// False with errno.
bool read_all(int descriptor, std::size_t most_bytes, int wait_ms, std::string& text) {
  constexpr std::size_t at_once = 65536;
  if (descriptor < 0) return false;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + std::min(at_once, most_bytes + 1 - before));
    const ssize_t got = read(descriptor, text.data() + before, text.size() - before);
    if (got < 0 && (errno == EINTR || (errno == EAGAIN && has_more(descriptor, wait_ms)))) {
      text.resize(before);
      continue;
    }
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0) return got == 0;
    if (text.size() > most_bytes) {
      errno = EFBIG;
      return false;
    }
  }
}

std::optional<mode_t> mode_of(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_mode;
}

}  // namespace

std::string read_file(const std::string& path, std::size_t most_bytes, const std::string& what) {
  constexpr int a_minute_ms = 60000;
  const Opened file(path);
  std::string text;
  if (!read_all(file.descriptor(), most_bytes, a_minute_ms, text))
    throw Error(what + "'" + path + "' cannot be read: " + std::strerror(errno));
  return text;
}

std::optional<std::string> read_if_there(const std::string& path, std::size_t most_bytes) {
  const Opened file(path);
  std::string text;
  if (!read_all(file.descriptor(), most_bytes, 0, text)) return std::nullopt;
  return text;
}

bool write_file(const std::string& path, std::string_view text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"), std::fclose);
  return file && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
}

bool is_folder(const std::string& path) {
  const auto mode = mode_of(path);
  return mode && S_ISDIR(*mode);
}

bool is_file(const std::string& path) {
  const auto mode = mode_of(path);
  return mode && !S_ISDIR(*mode);
}

}  // namespace hocket
