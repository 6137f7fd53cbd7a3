// What ranks of one process see of each other's memory, as told: all of it, or nothing.
#pragma once

#include <cstring>

#include "transports/transport.hpp"

namespace hocket::harness {

class OneProcess final : public transports::PeerMemory {
 public:
  explicit OneProcess(bool readable = true) : readable_(readable) {}

  void admit() noexcept override { ++admitted; }
  bool is_readable(ir::Rank) noexcept override { return ++asked, readable_; }
  Status read(ir::Rank, std::uint64_t address, transports::Piece target) noexcept override {
    if (fails) return Status::failed;
    ++reads;
    std::memcpy(target.data, reinterpret_cast<const std::byte*>(address), target.bytes);
    return Status::ok;
  }

  int admitted = 0, asked = 0, reads = 0;
  bool fails = false;

 private:
  bool readable_;
};

}  // namespace hocket::harness
