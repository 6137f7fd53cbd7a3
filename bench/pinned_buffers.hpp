// A stand-in for a network card: registered memory is pinned by the kernel's io_uring, and what is written
// from it comes from the pages that were there when it was registered, whatever has become of the addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/descriptor.hpp"
#include "registration/backend.hpp"

namespace hocket {

class PinnedBuffers final : public registration::Backend {
 public:
  /// Throws Error where io_uring is forbidden, or older than Linux 5.19.
  explicit PinnedBuffers(unsigned most = 64);
  ~PinnedBuffers() override;
  PinnedBuffers(const PinnedBuffers&) = delete;
  PinnedBuffers& operator=(const PinnedBuffers&) = delete;

  void* register_memory(void* address, std::size_t bytes) noexcept override;
  void forget_memory(void* handle) noexcept override;

  /// Writes registered memory to the beginning of a file, and waits. False: not all of it.
  bool write(void* handle, std::span<const std::byte> data, int file) noexcept;

  unsigned registrations() const noexcept { return registrations_; }

 private:
  struct Queue {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
  };
  Queue mapped(std::size_t bytes, std::uint64_t offset) const;
  bool update(unsigned slot, void* address, std::size_t bytes) noexcept;
  unsigned& word(const Queue& queue, unsigned offset) const noexcept;

  Descriptor ring_;
  Queue submissions_, completions_, entries_;
  unsigned submission_tail_ = 0, submission_array_ = 0, mask_ = 0;
  unsigned completion_head_ = 0, completion_tail_ = 0, results_ = 0, results_mask_ = 0;
  std::vector<bool> is_used_;
  unsigned registrations_ = 0;
};

}  // namespace hocket
