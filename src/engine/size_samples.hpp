// How large the blocks of gatherv, scatterv and alltoallv have been lately. No size of such a call is known
// to all ranks, so none may decide anything about it; but a sample of earlier calls can be agreed on. Every
// so many calls each rank leaves its own bytes beside its flag lines, and 8 calls later everybody reads
// everybody's (single_copy.hpp says why that needs no meeting).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/call.hpp"
#include "transports/shm/channel.hpp"

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
    std::uint32_t told_at = 0;  ///< who has finished this instance has left its bytes
    bool pending = false;
    std::size_t agreed = 0;
  };

  void leave(Sample& sample, std::size_t function, std::size_t bytes) noexcept;
  void read(Sample& sample, std::size_t function) noexcept;

  transports::shm::Channel& channel_;
  std::array<Sample, transports::shm::sampled_functions> samples_;
};

}  // namespace hocket::engine
