// A value of known size that comes over a connection in whatever pieces, without a byte of what follows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/descriptor.hpp"

namespace hocket::aggregation {

class Intake {
 public:
  enum class Outcome : std::uint8_t { more, complete, closed };

  void expect(std::size_t bytes);
  Outcome receive(const Descriptor& connection);
  /// Of a complete one.
  template <class Value>
  Value value() const noexcept {
    Value value;
    std::memcpy(&value, memory_.data(), sizeof value);
    return value;
  }

 private:
  std::vector<std::byte> memory_;
  std::size_t got_ = 0;
};

/// Of values that fit what a new connection takes. False: it is broken.
bool send_at_once(const Descriptor& connection, const void* data, std::size_t bytes) noexcept;

}  // namespace hocket::aggregation
