#include "worker/rank_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "engine/descriptor.hpp"

namespace hocket::worker {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error("cannot map a rank's memory: " + what + ": " + std::strerror(errno));
}

/// Only a sealed file cannot become shorter: who touches what has been cut off is killed.
void check(int file, std::uint64_t bytes) {
  struct stat status{};
  const int seals = fcntl(file, F_GET_SEALS);
  if (seals < 0 || fstat(file, &status) != 0) fail("no memory file");
  if ((seals & F_SEAL_SHRINK) == 0 || bytes == 0 || static_cast<std::uint64_t>(status.st_size) != bytes)
    throw Error("a rank's memory that may be cut off");
}

}  // namespace

MappedRange::MappedRange(pid_t process, const engine::SharedRange& range) : address_(range.address) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(range.file);
  const engine::Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) fail(path);
  check(file.number(), range.bytes);
  void* const base =
      mmap(nullptr, range.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.number(), 0);
  if (base == MAP_FAILED) fail(path);
  memory_ = {static_cast<std::byte*>(base), range.bytes};
}

MappedRange::~MappedRange() {
  munmap(memory_.data(), memory_.size());
}

void RankMemory::share(const engine::SharedRange& range) {
  if (++told_ > most_ranges) throw Error("a rank with too many memories");
  try {
    ranges_.push_back(std::make_shared<const MappedRange>(process_, range));
  } catch (const Error&) {
    return;
  }
}

RankMemory::Range RankMemory::range_of(std::uint64_t address, std::size_t bytes) const noexcept {
  for (const Range& range : ranges_)
    if (range->holds(address, bytes)) return range;
  return nullptr;
}

}  // namespace hocket::worker
