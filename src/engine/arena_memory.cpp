#include "engine/arena_memory.hpp"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace hocket::engine {
namespace {

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

constexpr std::size_t smallest_budget = 1 << 20;
constexpr std::size_t reserve_step =
    8 << 20;  // a timer signal interrupts fallocate, which then starts over: small steps end

[[noreturn]] void fail(const std::string& what) {
  throw Error(what + ": " + std::strerror(errno));
}

/// Growing a file past RLIMIT_FSIZE is a signal (SIGXFSZ), not an error: stay below.
std::size_t within_file_limit(std::size_t budget, std::size_t overhead) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return budget;
  if (overhead + std::min(budget, smallest_budget) > limit.rlim_cur)
    throw Error("the limit of file sizes (ulimit -f) leaves no room for shared memory");
  return std::min<std::size_t>(budget, (limit.rlim_cur - overhead) / arena_page * arena_page);
}

std::byte* map(int file, std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (memory == MAP_FAILED) fail("cannot map " + std::to_string(bytes) + " bytes of shared memory");
  return static_cast<std::byte*>(memory);
}

bool reserve_step_of(int file, off_t offset, off_t bytes) noexcept {
  for (int tries = 0; tries < 1000; ++tries) {
    if (fallocate(file, 0, offset, bytes) == 0) return true;
    if (errno != EINTR) return false;
  }
  return false;
}

bool reserve_range(int file, std::size_t offset, std::size_t bytes) noexcept {
  for (std::size_t done = 0; done < bytes; done += reserve_step) {
    const std::size_t step = std::min(reserve_step, bytes - done);
    if (!reserve_step_of(file, static_cast<off_t>(offset + done), static_cast<off_t>(step))) return false;
  }
  return true;
}

/// Nobody can make the file shorter under us: that would be SIGBUS for all.
void seal_size(int file) {
  if (fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) fail("cannot seal the memfd");
}

Descriptor new_memfd(const std::string& name) {
  Descriptor file = Descriptor::moved_up(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) fail("cannot create a memfd");
  return file;
}

Descriptor new_file(const std::string& name, std::size_t bytes) {
  Descriptor file = new_memfd(name);
  if (ftruncate(file.number(), static_cast<off_t>(bytes)) != 0) fail("cannot size the memfd");
  seal_size(file.number());
  return file;
}

}  // namespace

void require_memfd() {
  new_memfd("hocket-probe");
}

ArenaMemory ArenaMemory::create(const std::string& name, std::size_t local_size, std::size_t budget) {
  const std::size_t overhead = slots_offset(local_size);
  budget = within_file_limit(whole_pages(budget), overhead);
  ArenaMemory memory;
  memory.file_ = new_file(name, overhead + budget);
  if (!reserve_range(memory.file(), 0, overhead)) fail("no memory for the arena's directory");
  memory.bytes_ = overhead + budget;
  memory.base_ = map(memory.file(), memory.bytes_);
  ArenaHeader& header = memory.header();
  header.layout = arena_layout_version;
  header.local_size = static_cast<std::uint32_t>(local_size);
  header.budget = budget;
  header.magic = arena_magic;
  return memory;
}

ArenaMemory ArenaMemory::attach(Descriptor file) {
  struct stat info{};
  const int seals = fcntl(file.number(), F_GET_SEALS);
  if (fstat(file.number(), &info) != 0 || seals < 0 || !(seals & F_SEAL_SHRINK) ||
      static_cast<std::size_t>(info.st_size) < sizeof(ArenaHeader) + sizeof(RankEntry))
    throw Error("what local rank 0 offers is not an arena");
  ArenaMemory memory;
  memory.file_ = std::move(file);
  memory.bytes_ = static_cast<std::size_t>(info.st_size);
  memory.base_ = map(memory.file(), memory.bytes_);
  if (memory.header().magic != arena_magic) throw Error("what local rank 0 offers is not an arena");
  return memory;
}

ArenaMemory& ArenaMemory::operator=(ArenaMemory&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

ArenaMemory::~ArenaMemory() {
  if (base_) munmap(base_, bytes_);
}

RankEntry& ArenaMemory::entry(std::size_t local_rank) const {
  return reinterpret_cast<RankEntry*>(base_ + sizeof(ArenaHeader))[local_rank];
}

SlotEntry* ArenaMemory::directory() const {
  return reinterpret_cast<SlotEntry*>(base_ + directory_offset(local_size()));
}

bool ArenaMemory::reserve(std::byte* start, std::size_t bytes) const noexcept {
  if (file_intact()) return reserve_range(file(), static_cast<std::size_t>(start - base_), bytes);
  return madvise(start, bytes, MADV_POPULATE_WRITE) == 0;  // the program closed our descriptor; Linux 5.14
}

void ArenaMemory::discard(std::byte* start, std::size_t bytes) const noexcept {
  if (madvise(start, bytes, MADV_REMOVE) != 0) std::memset(start, 0, bytes);
}

}  // namespace hocket::engine
