#include "engine/record_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace hocket::engine {
namespace {

struct flock lock_of_byte(off_t byte) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

}  // namespace

bool take_record_lock(int file, off_t byte) noexcept {
  struct flock lock = lock_of_byte(byte);
  return fcntl(file, F_SETLK, &lock) == 0;
}

LockState record_lock_of_others(int file, off_t byte) noexcept {
  struct flock lock = lock_of_byte(byte);
  if (fcntl(file, F_GETLK, &lock) != 0) return LockState::unknown;
  return lock.l_type == F_UNLCK ? LockState::free : LockState::held;
}

}  // namespace hocket::engine
