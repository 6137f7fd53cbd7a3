// Who is in a group as this switch sees it: the children in the order of their lowest ranks, and the way up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "switch/groups/port.hpp"

namespace hocket::aggregation {

struct Child {
  Port* port = nullptr;
  std::uint32_t number = 0;  ///< of the group on that connection
  std::uint32_t ranks = 0, lowest = 0;
  wire::Error error = wire::Error::none;   ///< a refusal beneath it
  std::size_t index = 0;                   ///< in the order; from the verdict on
  std::uint32_t small = 0, streaming = 0;  ///< its outstanding operations
  std::uint64_t ahead = 0;                 ///< bytes sent in streaming mode and not yet come down
  // of the lock: how often it has been asked for, and given back
  std::uint32_t asked = 0, returned = 0;
};

class Roster {
 public:
  using Children = std::vector<std::unique_ptr<Child>>;

  Child& add(Group& group, Port& port, std::uint32_t number);
  void remove(Child& child);
  /// From now on they have an index.
  void put_in_order();
  const Children& children() const noexcept { return children_; }
  bool is_empty() const noexcept { return children_.empty(); }

  // The way up, under a number of this switch's. Without it this is the group's root, or nobody has been
  // asked yet.
  void open_above(Group& group, Port& above, std::uint32_t number);
  void close_above() noexcept;
  Port* above() const noexcept { return above_; }

  // `head.group` becomes the receiver's number.
  void send_up(wire::FrameHead head, const Slice& payload = {}) const;
  static void send_down(const Child& child, wire::FrameHead head, const Slice& payload = {});
  template <class Value>
  void send_up(wire::FrameKind kind, const Value& value) const {
    send_up({.kind = kind}, copy_of(std::as_bytes(std::span(&value, 1))));
  }
  /// To all but `origin`.
  template <class Value>
  void send_down(wire::FrameKind kind, const Value& value, const Port* origin = nullptr) const {
    const Slice payload = copy_of(std::as_bytes(std::span(&value, 1)));
    for (const auto& child : children_)
      if (child->port != origin) send_down(*child, {.kind = kind}, payload);
  }

  /// No connection knows the group any more.
  void forget() noexcept;

 private:
  Children children_;
  Port* above_ = nullptr;
  std::uint32_t number_above_ = 0;
};

}  // namespace hocket::aggregation
