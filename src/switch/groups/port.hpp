// A connection as groups see it: who is there, where frames go, and which groups it has named.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "switch/groups/slice.hpp"
#include "switch/wire/frames.hpp"

namespace hocket::aggregation {

class Group;
struct Child;

/// What a number in a frame's head means on this connection. `child`: this side of it; null towards the
/// parent.
struct Seat {
  Group* group = nullptr;
  Child* child = nullptr;
};

class Port {
 public:
  Port(const wire::Hello& hello, std::string name) : hello_(hello), name_(std::move(name)) {}
  virtual ~Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  /// Never waits. `head.bytes` becomes the payload's.
  virtual void send(wire::FrameHead head, const Slice& payload) = 0;

  template <class Value>
  void send_value(wire::FrameHead head, const Value& value) {
    send(head, copy_of(std::as_bytes(std::span(&value, 1))));
  }

  bool is_switch() const noexcept { return hello_.is_switch != 0; }
  std::uint64_t job() const noexcept { return hello_.job; }
  /// For people: "rank 3 of job 7 at 10.0.0.3:4711".
  const std::string& name() const noexcept { return name_; }

  std::unordered_map<std::uint32_t, Seat> seats;

 private:
  const wire::Hello hello_;
  const std::string name_;
};

}  // namespace hocket::aggregation
