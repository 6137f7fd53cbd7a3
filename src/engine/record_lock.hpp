// A POSIX record lock on one byte of a file: the kernel drops it when its process ends, however it ends. That
// is how the others notice.
//
// Two traps of these locks: a process loses all of them when it closes *any* descriptor of the file, and fork
// does not hand them on (which is wanted here: a child that survives its parent does not look like a living
// rank).
#pragma once

#include <sys/types.h>

namespace hocket::engine {

/// False if another process holds it, or the file cannot be locked.
bool take_record_lock(int file, off_t byte) noexcept;

enum class LockState { free, held, unknown };
/// As another process would see it: an own lock does not count.
LockState record_lock_of_others(int file, off_t byte) noexcept;

}  // namespace hocket::engine
