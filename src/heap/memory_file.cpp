#include "heap/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

namespace hocket::heap {
namespace {

/// The beginning of a file of the system's, with a zero behind it; empty: it cannot be read. No memory but
/// this.
struct Text {
  explicit Text(const char* path) noexcept {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t length = read(file, data, sizeof data - 1);
    if (length > 0) data[length] = '\0';
    ::close(file);
  }
  char data[2048] = "";
};

/// Growing a file past the limit is a signal (SIGXFSZ), not an error.
bool is_within_file_limit(std::size_t bytes) noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= bytes;
}

/// Then what is reserved counts as used, and a page that is touched may not be had, which is a signal.
bool is_overcommit_forbidden() noexcept {
  return Text("/proc/sys/vm/overcommit_memory").data[0] == '2';
}

/// Where neither shells nor daemons close, and select() ends.
int moved_up(int low) noexcept {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t floor = limit.rlim_cur < 1024 ? limit.rlim_cur : 1024;
  const int high = fcntl(low, F_DUPFD_CLOEXEC, static_cast<int>(floor > 96 ? floor - 64 : floor / 2));
  if (high < 0) return low;
  ::close(low);
  return high;
}

}  // namespace

bool MemoryFile::make(std::size_t bytes) noexcept {
  const int file = memfd_create("hocket-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return false;
  number_ = moved_up(file);
  struct stat status{};
  if (ftruncate(number_, static_cast<off_t>(bytes)) != 0 ||
      fcntl(number_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
      fstat(number_, &status) != 0)
    return false;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return true;
}

bool MemoryFile::open(std::size_t bytes) noexcept {
  if (!is_within_file_limit(bytes) || is_overcommit_forbidden()) return false;
  if (make(bytes)) return true;
  if (number_ >= 0) ::close(std::exchange(number_, -1));
  return false;
}

bool MemoryFile::is_intact() const noexcept {
  struct stat status{};
  return number_ >= 0 && fstat(number_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

std::size_t MemoryFile::used_bytes() const noexcept {
  struct stat status{};
  return is_intact() && fstat(number_, &status) == 0 ? static_cast<std::size_t>(status.st_blocks) * 512 : 0;
}

void MemoryFile::close() noexcept {
  if (is_intact()) ::close(number_);
  number_ = -1;
}

std::size_t free_memory() noexcept {
  const Text text("/proc/meminfo");
  const char* const line = strstr(text.data, "MemAvailable:");
  return line ? strtoul(line + sizeof "MemAvailable:" - 1, nullptr, 10) * 1024 : 0;
}

}  // namespace hocket::heap
