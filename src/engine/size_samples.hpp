// How large the blocks of gatherv, scatterv and alltoallv have been lately. No size of such a call is known
// to all ranks, so none may decide anything about it; but a sample of earlier calls can be agreed on. Every
// so many calls each rank leaves its own bytes, rounded up to a power of two, beside its flag lines, and some
// calls later everybody reads everybody's (transports/shm/notice.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/call.hpp"
#include "transports/shm/notice.hpp"

namespace hocket::engine {

class SizeSamples {
 public:
  explicit SizeSamples(transports::shm::Channel& channel) : channel_(channel) {}

  /// Before the communicator's next call, which is one of these. Bytes of a block, a power of two, the same
  /// on all ranks; 0: not known yet. May wait for a rank that is far behind.
  std::size_t agreed_before(const Call& call) noexcept;

 private:
  struct Sample {
    std::uint32_t calls = 0;
    std::uint32_t slot = 0;
    transports::shm::Notice left;
    bool pending = false;
    std::size_t agreed = 0;
  };

  void leave(Sample& sample, std::size_t function, std::size_t bytes) noexcept;
  void read(Sample& sample, std::size_t function) noexcept;

  transports::shm::Channel& channel_;
  std::array<Sample, transports::shm::sampled_functions> samples_;
};

}  // namespace hocket::engine
