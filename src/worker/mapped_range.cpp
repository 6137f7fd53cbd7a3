#include "worker/mapped_range.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace hocket::worker {
namespace {

using engine::SharedRange;

/// Address space of this process is for mirrors, too.
constexpr std::uint64_t most_mapped = std::uint64_t{1} << 45U;
std::uint64_t mapped = 0;  ///< by all ranks; a worker has one thread

[[noreturn]] void fail(const std::string& what) {
  throw Error("cannot map a rank's memory: " + what + ": " + std::strerror(errno));
}

/// What a rank names may be anything: a device, or a file system that never answers. This opens nothing.
Descriptor place_of(pid_t process, int file) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
  Descriptor place(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place) fail(path);
  return place;
}

/// The file that the rank has meant, and one of memory: of huge pages there may be fewer than it is long.
void check_kind(int place, const SharedRange& range) {
  struct stat status{};
  struct statfs system{};
  if (fstat(place, &status) != 0 || fstatfs(place, &system) != 0) fail("no file");
  if (!S_ISREG(status.st_mode) || system.f_type != TMPFS_MAGIC || status.st_dev != range.device ||
      status.st_ino != range.inode)
    throw Error("what a rank calls its memory is something else");
  if (range.bytes == 0 || static_cast<std::uint64_t>(status.st_size) != range.bytes)
    throw Error("a rank's memory is not as long as it says");
}

/// Does not wait where somebody else has a lease.
Descriptor opened(int place) {
  const std::string path = "/proc/self/fd/" + std::to_string(place);
  Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!file) fail(path);
  return file;
}

/// Only a sealed file cannot become shorter: who touches what has been cut off is killed.
void check_seals(int file) {
  const int seals = fcntl(file, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) throw Error("a rank's memory that may be cut off");
}

}  // namespace

/// Ranks' data are not in a core dump of this process.
MappedRange::MappedRange(pid_t process, const SharedRange& range) : address_(range.address) {
  const Descriptor place = place_of(process, range.file);
  check_kind(place.number(), range);
  const Descriptor file = opened(place.number());
  check_seals(file.number());
  if (range.bytes > most_mapped - mapped) throw Error("ranks share more memory than can be mapped");
  void* const base =
      mmap(nullptr, range.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.number(), 0);
  if (base == MAP_FAILED) fail("no address space");
  madvise(base, range.bytes, MADV_DONTDUMP);
  memory_ = {static_cast<std::byte*>(base), range.bytes};
  mapped += range.bytes;
}

MappedRange::~MappedRange() {
  munmap(memory_.data(), memory_.size());
  mapped -= memory_.size();
}

}  // namespace hocket::worker
