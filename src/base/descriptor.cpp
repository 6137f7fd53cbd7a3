#include "base/descriptor.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace hocket {

Descriptor::Descriptor(int number) : number_(number) {
  struct stat info{};
  if (number_ < 0 || fstat(number_, &info) != 0) return;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this == &other) return *this;
  reset();
  number_ = std::exchange(other.number_, -1);
  device_ = other.device_;
  inode_ = other.inode_;
  return *this;
}

Descriptor Descriptor::moved_up(int low) {
  if (low < 0) return {};
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t floor =
      std::min<rlim_t>(limit.rlim_cur, 1024);  // shells and daemons close up to here; select() ends here
  const int high = fcntl(low, F_DUPFD_CLOEXEC, static_cast<int>(floor > 96 ? floor - 64 : floor / 2));
  if (high < 0) return Descriptor(low);
  close(low);
  return Descriptor(high);
}

bool Descriptor::intact() const {
  struct stat info{};
  return number_ >= 0 && fstat(number_, &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
}

void Descriptor::reset() {
  if (intact()) close(number_);
  number_ = -1;
}

}  // namespace hocket
