// What the ranks of a communicator share, without an engine around it: their flag lines in plain memory.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "transports/shm/channel.hpp"

namespace hocket::harness {

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using FlagLines = std::unique_ptr<std::byte, FreeMemory>;

inline FlagLines flag_lines(ir::Rank ranks) {
  using namespace transports::shm;
  const std::size_t bytes = (bytes_for(ranks) + line_bytes - 1) / line_bytes * line_bytes;
  FlagLines memory(static_cast<std::byte*>(std::aligned_alloc(line_bytes, bytes)));
  std::memset(memory.get(), 0, bytes);
  return memory;
}

/// All ranks of a communicator in one thread: a test makes their steps in turn.
class LockStep {
 public:
  explicit LockStep(ir::Rank ranks) : lines_(flag_lines(ranks)) {
    for (ir::Rank r = 0; r < ranks; ++r)
      channels_.emplace_back(lines_.get(), ranks, r, transports::Waiting{});
  }
  transports::shm::Channel& operator[](ir::Rank rank) { return channels_[static_cast<std::size_t>(rank)]; }
  ir::Rank ranks() const { return static_cast<ir::Rank>(channels_.size()); }
  /// A call that something else runs.
  void call() {
    for (auto& channel : channels_) channel.skip();
  }

 private:
  FlagLines lines_;
  std::vector<transports::shm::Channel> channels_;
};

}  // namespace hocket::harness
