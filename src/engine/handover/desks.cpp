#include "engine/handover/desks.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "engine/record_lock.hpp"

namespace hocket::engine::handover {
namespace {

/// Far from the content, of which locks know nothing.
constexpr off_t worker_byte = off_t{1} << 40;

constexpr off_t byte_of(std::uint32_t desk) {
  return worker_byte + 1 + static_cast<off_t>(desk);
}

constexpr std::size_t bytes_for(std::uint32_t desks) {
  return sizeof(DesksHeader) + desks * sizeof(Desk);
}

[[noreturn]] void fail(const std::string& what) {
  throw Error(what + ": " + std::strerror(errno));
}

std::byte* map(int file, std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail("cannot map the worker's desks");
  return static_cast<std::byte*>(memory);
}

/// All pages are there from the beginning, and nobody can make the file shorter: no touch ends in SIGBUS.
Descriptor new_file(std::size_t bytes) {
  Descriptor file = Descriptor::moved_up(memfd_create("hocket-desks", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) fail("cannot create a memfd");
  if (const int error = posix_fallocate(file.number(), 0, static_cast<off_t>(bytes)); error != 0) {
    errno = error;
    fail("no memory for the worker's desks");
  }
  if (fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) fail("cannot seal the memfd");
  return file;
}

/// Of a file that is long enough to have a header at all.
std::size_t sealed_size(const Descriptor& file) {
  struct stat info{};
  const int seals = fcntl(file.number(), F_GET_SEALS);
  const bool holds = fstat(file.number(), &info) == 0 && seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
  return holds ? static_cast<std::size_t>(info.st_size) : 0;
}

}  // namespace

std::string build_version() {
  return "hocket " HOCKET_VERSION;
}

Desks& Desks::operator=(Desks&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(bell_, other.bell_);
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(count_, other.count_);
  return *this;
}

Desks::~Desks() {
  if (base_) munmap(base_, bytes_);
}

Desks Desks::create(std::uint32_t desks, const std::string& version) {
  Desks made;
  made.bytes_ = bytes_for(desks);
  made.file_ = new_file(made.bytes_);
  made.base_ = map(made.file(), made.bytes_);
  made.bell_ = Doorbell::create();
  made.count_ = desks;
  DesksHeader& header = made.header();
  header.layout = desks_layout;
  header.desks = desks;
  header.pid = getpid();
  version.copy(header.version.data(), header.version.size() - 1);
  header.magic = desks_magic;
  return made;
}

Desks Desks::attach(DeskFiles files, const std::string& version) {
  Desks desks;
  desks.bytes_ = sealed_size(files.desks);
  if (desks.bytes_ < bytes_for(1)) throw Error("what the worker offers are no desks");
  desks.file_ = std::move(files.desks);
  desks.bell_ = Doorbell(std::move(files.bell));
  desks.base_ = map(desks.file(), desks.bytes_);
  const DesksHeader& header = desks.header();
  if (header.magic != desks_magic || header.layout != desks_layout)
    throw Error("the worker is of another version of Hocket");
  if (version.compare(0, DesksHeader::longest_version - 1, header.version.data()) != 0)
    throw Error("the worker is of another version of Hocket: " + std::string(header.version.data()));
  desks.count_ = header.desks;
  if (desks.bytes_ != bytes_for(desks.count_)) throw Error("what the worker offers are no desks");
  return desks;
}

/// Of several ranks that find it asleep, one rings: one that can.
void Desks::ring() const noexcept {
  header().told.fetch_add(1, std::memory_order_seq_cst);
  std::atomic<std::uint32_t>& asleep = header().asleep;
  if (asleep.load(std::memory_order_seq_cst) == 0) return;
  if (!bell_.is_intact())
    header().mute.store(1, std::memory_order_relaxed);
  else if (asleep.exchange(0, std::memory_order_seq_cst) != 0)
    bell_.ring();
}

bool Desks::has_mute_ranks() const noexcept {
  return bell_.inside() < 0 || header().mute.load(std::memory_order_relaxed) != 0;
}

bool Desks::fall_asleep(std::uint32_t heard) const noexcept {
  header().asleep.store(1, std::memory_order_seq_cst);
  return header().told.load(std::memory_order_seq_cst) == heard;
}

void Desks::wake_up(bool has_rung) noexcept {
  header().asleep.store(0, std::memory_order_relaxed);
  if (has_rung) bell_.fall_silent();
}

bool Desks::take_worker_place() const noexcept {
  return take_record_lock(file(), worker_byte);
}

bool Desks::take_place(std::uint32_t desk) const noexcept {
  return take_record_lock(file(), byte_of(desk));
}

bool Desks::has_worker() const noexcept {
  return record_lock_of_others(file(), worker_byte) != LockState::free;
}

bool Desks::is_taken(std::uint32_t desk) const noexcept {
  return record_lock_of_others(file(), byte_of(desk)) != LockState::free;
}

}  // namespace hocket::engine::handover
