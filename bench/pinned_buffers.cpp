#include "pinned_buffers.hpp"

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace hocket {

namespace {

Error refusal(const char* what) {
  return Error(std::string(what) + ": " + std::strerror(errno));
}

long register_with(int ring, unsigned what, const void* argument, unsigned count) noexcept {
  return syscall(SYS_io_uring_register, ring, what, argument, count);
}

void* handle_of(std::size_t slot) noexcept {
  return reinterpret_cast<void*>(slot + 1);  // NOLINT(performance-no-int-to-ptr)
}

unsigned slot_of(void* handle) noexcept {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(handle) - 1);
}

}  // namespace

PinnedBuffers::PinnedBuffers(unsigned most) : is_used_(most) {
  io_uring_params made{};
  ring_ = Descriptor::moved_up(static_cast<int>(syscall(SYS_io_uring_setup, 1, &made)));
  if (!ring_) throw refusal("io_uring");
  io_uring_rsrc_register empty{};
  empty.nr = most;
  empty.flags = IORING_RSRC_REGISTER_SPARSE;
  if (register_with(ring_.number(), IORING_REGISTER_BUFFERS2, &empty, sizeof empty) != 0)
    throw refusal("io_uring's buffers");
  submissions_ = mapped(made.sq_off.array + made.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
  completions_ = mapped(made.cq_off.cqes + made.cq_entries * sizeof(io_uring_cqe), IORING_OFF_CQ_RING);
  entries_ = mapped(made.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
  submission_tail_ = made.sq_off.tail;
  submission_array_ = made.sq_off.array;
  mask_ = word(submissions_, made.sq_off.ring_mask);
  completion_head_ = made.cq_off.head;
  completion_tail_ = made.cq_off.tail;
  results_ = made.cq_off.cqes;
  results_mask_ = word(completions_, made.cq_off.ring_mask);
}

PinnedBuffers::~PinnedBuffers() {
  for (const Queue& queue : {submissions_, completions_, entries_}) munmap(queue.memory, queue.bytes);
}

PinnedBuffers::Queue PinnedBuffers::mapped(std::size_t bytes, std::uint64_t offset) const {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_.number(),
                            static_cast<off_t>(offset));
  if (memory == MAP_FAILED) throw refusal("io_uring's queues");
  return {static_cast<std::byte*>(memory), bytes};
}

unsigned& PinnedBuffers::word(const Queue& queue, unsigned offset) const noexcept {
  return *reinterpret_cast<unsigned*>(queue.memory + offset);
}

bool PinnedBuffers::update(unsigned slot, void* address, std::size_t bytes) noexcept {
  const iovec buffer{address, bytes};
  io_uring_rsrc_update2 wanted{};
  wanted.offset = slot;
  wanted.data = reinterpret_cast<std::uintptr_t>(&buffer);
  wanted.nr = 1;
  return register_with(ring_.number(), IORING_REGISTER_BUFFERS_UPDATE, &wanted, sizeof wanted) == 1;
}

void* PinnedBuffers::register_memory(void* address, std::size_t bytes) noexcept {
  const auto free = std::find(is_used_.begin(), is_used_.end(), false);
  const auto slot = static_cast<std::size_t>(free - is_used_.begin());
  if (free == is_used_.end() || !update(static_cast<unsigned>(slot), address, bytes)) return nullptr;
  ++registrations_;
  *free = true;
  return handle_of(slot);
}

void PinnedBuffers::forget_memory(void* handle) noexcept {
  update(slot_of(handle), nullptr, 0);
  is_used_[slot_of(handle)] = false;
}

bool PinnedBuffers::write(void* handle, std::span<const std::byte> data, int file) noexcept {
  unsigned& tail = word(submissions_, submission_tail_);
  auto& entry = reinterpret_cast<io_uring_sqe*>(entries_.memory)[tail & mask_];
  entry = {};
  entry.opcode = IORING_OP_WRITE_FIXED;
  entry.fd = file;
  entry.addr = reinterpret_cast<std::uintptr_t>(data.data());
  entry.len = static_cast<unsigned>(data.size());
  entry.buf_index = static_cast<std::uint16_t>(slot_of(handle));
  word(submissions_, submission_array_ + (tail & mask_) * static_cast<unsigned>(sizeof(unsigned))) =
      tail & mask_;
  std::atomic_ref(tail).store(tail + 1, std::memory_order_release);
  if (syscall(SYS_io_uring_enter, ring_.number(), 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0) != 1)
    return false;
  unsigned& head = word(completions_, completion_head_);
  while (std::atomic_ref(word(completions_, completion_tail_)).load(std::memory_order_acquire) == head) {
  }
  const auto* const all = reinterpret_cast<const io_uring_cqe*>(completions_.memory + results_);
  const int written = all[head & results_mask_].res;
  std::atomic_ref(head).store(head + 1, std::memory_order_release);
  return written >= 0 && static_cast<std::size_t>(written) == data.size();
}

}  // namespace hocket
